/** The rules of a policy for one provider. Suggestions come from the provider's presets and from the agent's calls. */
import { Anchor, Badge, Button, Card, Group, Stack, Switch, TagsInput, Text, Title } from '@mantine/core';
import type { useProviders } from '../../resources/agent-account-and-key-hooks.js';
import { type ProviderRules, withCalls, withModels } from './policy-rules.js';
import { useSeenCallsAndModels } from './use-seen-calls-and-models.js';

interface PolicyProviderCardProps {
  readonly agentId: string;
  readonly slug: string;
  readonly name: string;
  /** Undefined: not loaded, or deleted. */
  readonly provider: NonNullable<ReturnType<typeof useProviders>['data']>[number] | undefined;
  readonly rules: ProviderRules;
  readonly readOnly: boolean;
  readonly onChange: (rules: ProviderRules) => void;
  readonly onRemove: () => void;
}

const MCP_RULES = ['tools', 'resources', 'prompts'] as const;

export function PolicyProviderCard(props: PolicyProviderCardProps) {
  const { agentId, slug, name, provider, rules, readOnly, onChange, onRemove } = props;
  const seen = useSeenCallsAndModels(agentId, slug);
  const presets = provider?.presets ?? [];
  const hasModels = rules.models !== undefined || (provider?.category ?? 'model') === 'model';
  const otherRules = MCP_RULES.filter((field) => rules[field] !== undefined);
  const addCalls = (calls: readonly string[]) =>
    onChange(withCalls(rules, [...new Set([...(rules.calls ?? []), ...calls])]));
  return (
    <Card component="section" aria-label={`Policy for ${name}`}>
      <Stack gap="md">
        <Group justify="space-between">
          <Title order={3}>{name}</Title>
          {!readOnly && (
            <Button
              size="compact-sm"
              variant="default"
              aria-label={`Remove ${name} from the policy`}
              onClick={onRemove}
            >
              Remove
            </Button>
          )}
        </Group>
        <Switch
          label="Only these calls"
          disabled={readOnly}
          checked={rules.calls !== undefined}
          onChange={(event) => onChange(withCalls(rules, event.currentTarget.checked ? [...seen.calls] : null))}
        />
        {rules.calls !== undefined && (
          <>
            <TagsInput
              label="Allowed calls"
              description="Method or *, a space, and the path. * matches within one segment, ** any number of segments."
              placeholder={rules.calls.length === 0 ? 'POST /v1/chat/completions' : ''}
              readOnly={readOnly}
              acceptValueOnBlur
              splitChars={[',']}
              data={seen.calls.filter((call) => !rules.calls?.includes(call))}
              value={rules.calls}
              onChange={(calls) => onChange(withCalls(rules, calls))}
            />
            {!readOnly && presets.length > 0 && (
              <Group gap="xs">
                <Text size="sm" c="dimmed">
                  Add a preset:
                </Text>
                {presets.map((preset) => (
                  <Anchor
                    key={preset.name}
                    component="button"
                    type="button"
                    size="sm"
                    ta="left"
                    onClick={() => addCalls(preset.calls)}
                    title={preset.calls.join('\n')}
                  >
                    {preset.name}
                  </Anchor>
                ))}
              </Group>
            )}
          </>
        )}
        {hasModels && (
          <>
            <Switch
              label="Only these models"
              disabled={readOnly}
              checked={rules.models?.allow !== undefined}
              onChange={(event) =>
                onChange(withModels(rules, 'allow', event.currentTarget.checked ? [...seen.models] : null))
              }
            />
            {rules.models?.allow !== undefined && (
              <ModelsInput
                label="Allowed models"
                placeholder="gpt-5-*"
                names={rules.models.allow}
                seen={seen.models}
                readOnly={readOnly}
                onChange={(names) => onChange(withModels(rules, 'allow', names))}
              />
            )}
            <ModelsInput
              label="Rejected models (optional)"
              placeholder="None"
              names={rules.models?.deny ?? []}
              seen={seen.models}
              readOnly={readOnly}
              onChange={(names) => onChange(withModels(rules, 'deny', names.length === 0 ? null : names))}
            />
          </>
        )}
        {otherRules.length > 0 && (
          <Group gap="xs">
            <Text size="sm">The policy also has rules for</Text>
            {otherRules.map((field) => (
              <Badge key={field} variant="light" tt="none">
                {field}
              </Badge>
            ))}
            <Text size="sm">They stay as they are.</Text>
          </Group>
        )}
      </Stack>
    </Card>
  );
}

interface ModelsInputProps {
  readonly label: string;
  readonly placeholder: string;
  readonly names: string[];
  readonly seen: readonly string[];
  readonly readOnly: boolean;
  readonly onChange: (names: string[]) => void;
}

const ModelsInput = ({ label, placeholder, names, seen, readOnly, onChange }: ModelsInputProps) => (
  <TagsInput
    label={label}
    description="* matches any characters."
    placeholder={names.length === 0 ? placeholder : ''}
    readOnly={readOnly}
    acceptValueOnBlur
    splitChars={[',', ' ']}
    data={seen.filter((model) => !names.includes(model))}
    value={names}
    onChange={onChange}
  />
);

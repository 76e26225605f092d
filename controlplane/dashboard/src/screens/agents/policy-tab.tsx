/** The Policy tab of an agent: the providers, calls and models that it may use, and a check of one call. */
import { Alert, Button, Card, Group, Stack, Switch, Text, Title } from '@mantine/core';
import { Info } from 'lucide-react';
import { useState } from 'react';
import { useFormDraft } from '../../api/form-drafts-across-sign-in.js';
import { useMissingRoleReason } from '../../api/session.js';
import { RoleGuardedButton } from '../../components/buttons/role-guarded-button.js';
import { ErrorAlert } from '../../components/feedback/error-alert.js';
import { showToast } from '../../components/feedback/toast.js';
import { ProviderSelect } from '../../components/forms/provider-select.js';
import {
  type Agent,
  useAgentAccounts,
  useProviders,
  useUpdateAgent,
} from '../../resources/agent-account-and-key-hooks.js';
import { PolicyCheck } from './policy-check.js';
import { PolicyProviderCard } from './policy-provider-card.js';
import { type ProviderRules, toPolicy, toPolicyForm } from './policy-rules.js';

export function PolicyTab({ agent }: { readonly agent: Agent }) {
  const accounts = useAgentAccounts(agent.id);
  if (accounts.data === undefined && accounts.error !== null)
    return <ErrorAlert error={accounts.error} onRetry={accounts.refetch} />;
  if (accounts.data === undefined) return null;
  return <PolicyForm agent={agent} assigned={accounts.data.map(({ providerSlug }) => providerSlug)} />;
}

function PolicyForm({ agent, assigned }: { readonly agent: Agent; readonly assigned: readonly string[] }) {
  const readOnly = useMissingRoleReason('member') !== null;
  const providers = useProviders();
  const change = useUpdateAgent(agent.id);
  const [form, setForm] = useFormDraft(`policy of ${agent.id}`, toPolicyForm(agent.policy, assigned));
  const [added, setAdded] = useState('');
  const policy = toPolicy(form);
  const setProviders = (next: Record<string, ProviderRules>) => setForm({ ...form, providers: next });
  const slugs = Object.keys(form.providers);
  const nameOf = (slug: string) => providers.data?.find((provider) => provider.slug === slug)?.displayName ?? slug;
  return (
    <Stack gap="lg" maw={860}>
      <Card>
        <form
          onSubmit={(event) => {
            event.preventDefault();
            change.mutate({ policy }, { onSuccess: () => showToast('Policy saved') });
          }}
        >
          <Stack gap="lg">
            {change.error !== null && <ErrorAlert error={change.error} />}
            <div>
              <Title order={2}>Policy</Title>
              <Text size="sm" c="dimmed">
                The gateway rejects every call that the policy does not allow. A change applies to the next call.
              </Text>
            </div>
            <Switch
              label="Restrict this agent"
              description="Off: the agent may make every call to its providers, except sensitive calls."
              disabled={readOnly}
              checked={form.isRestricted}
              onChange={(event) => setForm({ ...form, isRestricted: event.currentTarget.checked })}
            />
            {form.isRestricted && slugs.length === 0 && (
              <Alert color="yellow" icon={<Info size={18} aria-hidden />} title="No provider is allowed">
                With this policy the gateway rejects all calls of the agent. Add a provider.
              </Alert>
            )}
            {form.isRestricted &&
              slugs.map((slug) => (
                <PolicyProviderCard
                  key={slug}
                  agentId={agent.id}
                  slug={slug}
                  name={nameOf(slug)}
                  provider={providers.data?.find((provider) => provider.slug === slug)}
                  rules={form.providers[slug]!}
                  readOnly={readOnly}
                  onChange={(rules) => setProviders({ ...form.providers, [slug]: rules })}
                  onRemove={() => {
                    const { [slug]: _removed, ...others } = form.providers;
                    setProviders(others);
                  }}
                />
              ))}
            {form.isRestricted && !readOnly && (
              <Group align="flex-end" gap="sm">
                <ProviderSelect label="Allow another provider" value={added} onChange={setAdded} error={undefined} />
                <Button
                  variant="default"
                  disabled={added === '' || slugs.includes(added)}
                  onClick={() => {
                    setProviders({ ...form.providers, [added]: {} });
                    setAdded('');
                  }}
                >
                  Add to policy
                </Button>
              </Group>
            )}
            <Group justify="flex-end">
              <RoleGuardedButton requiredRole="member" type="submit" loading={change.isPending}>
                Save policy
              </RoleGuardedButton>
            </Group>
          </Stack>
        </form>
      </Card>
      <PolicyCheck agentId={agent.id} policy={policy} slugs={assigned} nameOf={nameOf} />
    </Stack>
  );
}

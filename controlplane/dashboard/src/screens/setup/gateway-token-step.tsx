import { Alert, Button, Code, Group, Stack, Text } from '@mantine/core';
import { CopyButton } from '../../components/buttons/copy-button.js';
import { RoleGuardedButton } from '../../components/buttons/role-guarded-button.js';
import { ErrorAlert } from '../../components/feedback/error-alert.js';
import { useFocusOnAppear } from '../../components/focus/use-focus-on-appear.js';
import { LazyCodeSnippetTabs } from '../../components/secrets/lazy-code-snippet-tabs.js';
import { useCreateKey } from '../../resources/agent-account-and-key-hooks.js';
import { FirstCallCard, useFirstCall } from './first-call.js';

interface GatewayTokenStepProps {
  readonly agentId: string;
  readonly providerSlug: string;
  readonly token: string | null;
  readonly onToken: (token: string) => void;
  readonly onDone: () => void;
}

export function GatewayTokenStep({ agentId, providerSlug, token, onToken, onDone }: GatewayTokenStepProps) {
  const create = useCreateKey();
  const call = useFirstCall(agentId, token !== null);
  const secretRef = useFocusOnAppear<HTMLPreElement>(token !== null);
  if (token === null) {
    return (
      <Stack gap="md">
        <Text size="sm">
          The agent uses a gateway token instead of the provider’s API key. It is shown once. Anyone with the token can
          call as this agent, within its limits, until the token is revoked.
        </Text>
        {create.error !== null && <ErrorAlert error={create.error} />}
        <Group>
          <RoleGuardedButton
            requiredRole="admin"
            loading={create.isPending}
            onClick={() =>
              create.mutate({ name: 'first', agentId }, { onSuccess: ({ secretKey }) => onToken(secretKey) })
            }
          >
            Create token
          </RoleGuardedButton>
        </Group>
      </Stack>
    );
  }
  return (
    <Stack gap="md">
      <Alert color="yellow" variant="light" title="Shown once">
        <Text size="sm">Copy it now and store it with your other secrets. It cannot be shown again.</Text>
      </Alert>
      <Group gap="sm" wrap="nowrap" align="flex-start">
        <Code block className="acg-code" flex={1} tabIndex={0} data-secret ref={secretRef}>
          {token}
        </Code>
        <CopyButton value={token} />
      </Group>
      <Text size="sm">Or copy a complete call with your token and address:</Text>
      <LazyCodeSnippetTabs providerSlug={providerSlug} token={token} agent={agentId} />
      {call !== undefined && <FirstCallCard call={call} />}
      <Group>
        <Button onClick={onDone}>I stored it, continue</Button>
      </Group>
    </Stack>
  );
}

import { Alert, Button, Code, Group, Stack, Text } from '@mantine/core';
import { CopyButton } from '../../parts/copy-button.js';
import { Failure } from '../../parts/failure.js';
import { useFocusHere } from '../../parts/focus-here.js';
import { GuardedButton } from '../../parts/guarded-button.js';
import { SnippetTabs } from '../../parts/snippet-tabs.js';
import { useCreateKey } from '../../resources/agents.js';

interface TokenStepProps {
  readonly agentId: string;
  readonly providerSlug: string;
  readonly token: string | null;
  readonly onToken: (token: string) => void;
  readonly onDone: () => void;
}

export function TokenStep({ agentId, providerSlug, token, onToken, onDone }: TokenStepProps) {
  const create = useCreateKey();
  const made = useFocusHere<HTMLPreElement>(token !== null);
  if (token === null) {
    return (
      <Stack gap="md">
        <Text size="sm">
          The agent gets a token of this gateway instead of the provider’s key. It is shown once; who has it can call as
          this agent, within its limits, until it is revoked.
        </Text>
        {create.error !== null && <Failure error={create.error} />}
        <Group>
          <GuardedButton
            needs="admin"
            loading={create.isPending}
            onClick={() =>
              create.mutate({ name: 'first', agentId }, { onSuccess: ({ secretKey }) => onToken(secretKey) })
            }
          >
            Make the token
          </GuardedButton>
        </Group>
      </Stack>
    );
  }
  return (
    <Stack gap="md">
      <Alert color="yellow" variant="light" title="Shown once">
        <Text size="sm">Copy it now and keep it where your secrets are. After a reload of this page it is gone.</Text>
      </Alert>
      <Group gap="sm" wrap="nowrap" align="flex-start">
        <Code block className="acg-code" flex={1} tabIndex={0} data-secret ref={made}>
          {token}
        </Code>
        <CopyButton value={token} />
      </Group>
      <Text size="sm">Or as a whole call, with your token and address filled in:</Text>
      <SnippetTabs providerSlug={providerSlug} token={token} agent={agentId} />
      <Group>
        <Button onClick={onDone}>I stored it, go on</Button>
      </Group>
    </Stack>
  );
}

/** Waits for the agent's first call. A rejected call is shown with its reason and a remedy. */
import { Alert, Button, Code, Group, List, Loader, Stack, Text } from '@mantine/core';
import { useEffect, useState } from 'react';
import { Link } from 'wouter';
import { useConfig } from '../../api/session.js';
import { useFocusOnAppear } from '../../components/focus/use-focus-on-appear.js';
import { GATEWAY_URL_PLACEHOLDER, TOKEN_PLACEHOLDER } from '../../components/secrets/code-snippets.js';
import { LazyCodeSnippetTabs } from '../../components/secrets/lazy-code-snippet-tabs.js';
import { FirstCallCard, useFirstCall } from './first-call.js';
import { FirstRejectionAlert } from './first-rejection-alert.js';

const TROUBLESHOOTING_AFTER_MS = 20_000;

interface FirstCallStepProps {
  readonly agentId: string;
  readonly providerSlug: string;
  readonly token: string | null;
  /** Opens another step of the setup. */
  readonly onStep: (step: number) => void;
}

export function FirstCallStep({ agentId, providerSlug, token, onStep }: FirstCallStepProps) {
  const call = useFirstCall(agentId);
  if (call !== undefined) return <FirstCallArrived call={call} />;
  return (
    <Stack gap="md">
      <Group gap="sm" role="status">
        {/* The spinner is hidden when the user prefers reduced motion; the text is enough. */}
        <Loader size="sm" type="dots" aria-hidden data-waiting />
        <Text fw={600}>Waiting for the first call…</Text>
      </Group>
      <LazyCodeSnippetTabs providerSlug={providerSlug} token={token} agent={agentId} />
      <FirstRejectionAlert agentId={agentId} onStep={onStep} />
      <Troubleshooting token={token} />
    </Stack>
  );
}

function FirstCallArrived({ call }: Parameters<typeof FirstCallCard>[0]) {
  const next = useFocusOnAppear<HTMLAnchorElement>();
  return (
    <Stack gap="md">
      <FirstCallCard call={call} />
      <Group>
        <Button component={Link} href="/" ref={next}>
          Open the dashboard
        </Button>
        <Button component={Link} href={`/agents/${call.agentId}`} variant="default">
          Open the agent
        </Button>
      </Group>
    </Stack>
  );
}

function Troubleshooting({ token }: { readonly token: string | null }) {
  const [isWaitingLong, setIsWaitingLong] = useState(false);
  const gatewayUrl = useConfig().data?.proxyUrl ?? GATEWAY_URL_PLACEHOLDER;
  useEffect(() => {
    const timer = setTimeout(() => setIsWaitingLong(true), TROUBLESHOOTING_AFTER_MS);
    return () => clearTimeout(timer);
  }, []);
  if (!isWaitingLong) return null;
  return (
    <Alert color="indigo" variant="light" title="No call yet? Three common causes">
      <List size="sm" spacing="xs">
        <List.Item>The SDK still uses the provider’s base URL. It must begin with {gatewayUrl}.</List.Item>
        <List.Item>
          The provider’s API key is still in the environment, and the SDK uses it instead of the gateway token.
        </List.Item>
        <List.Item>
          The agent cannot reach the gateway. On its machine, this command must return the agent:
          <Code
            block
            mt="xs"
            className="acg-code"
          >{`curl ${gatewayUrl}/v1/self -H "authorization: Bearer ${token ?? TOKEN_PLACEHOLDER}"`}</Code>
        </List.Item>
      </List>
    </Alert>
  );
}

/** Waits for the agent's first call. A refused one is news as well: it says what to do. */
import { Alert, Button, Card, Code, Group, List, Loader, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { CircleCheck } from 'lucide-react';
import { useEffect, useState } from 'react';
import { Link } from 'wouter';
import { api } from '../../api/api.js';
import { useConfig } from '../../api/session.js';
import { cents, count, milliseconds } from '../../format/format.js';
import { useFocusHere } from '../../parts/focus-here.js';
import { SnippetTabs } from '../../parts/snippet-tabs.js';
import { GATEWAY_PLACE, TOKEN_PLACE } from '../../parts/snippets.js';
import { FirstRefusal } from './first-refusal.js';

const ASK_EVERY_MS = 1_000;
const LONG_MS = 20_000;

interface FirstCallProps {
  readonly agentId: string;
  readonly providerSlug: string;
  readonly token: string | null;
  /** Back to a step of the setup. */
  readonly onStep: (step: number) => void;
}

export function FirstCall({ agentId, providerSlug, token, onStep }: FirstCallProps) {
  const calls = useQuery({
    queryKey: ['logs', 'first', agentId],
    queryFn: () => readCalls(agentId),
    refetchInterval: ({ state }) => ((state.data?.logs.length ?? 0) > 0 ? false : ASK_EVERY_MS),
  });
  const call = calls.data?.logs[0];
  if (call !== undefined) return <Arrived call={call} />;
  return (
    <Stack gap="md">
      <Group gap="sm" role="status">
        {/* No spinner where motion is unwanted: the words are enough. */}
        <Loader size="sm" type="dots" aria-hidden data-waiting />
        <Text fw={600}>Waiting for the first call …</Text>
      </Group>
      <SnippetTabs providerSlug={providerSlug} token={token} agent={agentId} />
      <FirstRefusal agentId={agentId} onStep={onStep} />
      <Causes token={token} />
    </Stack>
  );
}

const readCalls = (agentId: string) => api.get('/v1/usage/logs', { params: { query: { agentId, limit: 1 } } });
type Call = Awaited<ReturnType<typeof readCalls>>['logs'][number];

function Arrived({ call }: { readonly call: Call }) {
  const next = useFocusHere<HTMLAnchorElement>();
  return (
    <Stack gap="md">
      <Card className="acg-arrived" padding="md" role="status">
        <Group gap="sm" wrap="nowrap" align="flex-start">
          <CircleCheck size={20} aria-hidden color="var(--acg-good)" style={{ flex: 'none' }} />
          <div>
            <Text fw={600}>The first call is here: {call.status}</Text>
            <Text size="sm" className="acg-numbers acg-break">
              {call.model ?? call.path} · {count(call.tokensIn)} → {count(call.tokensOut)} tokens ·{' '}
              {cents(call.costCents)} · {milliseconds(call.durationMs)}
            </Text>
          </div>
        </Group>
      </Card>
      <Group>
        <Button component={Link} href="/" ref={next}>
          Open the dashboard
        </Button>
        <Button component={Link} href={`/agents/${call.agentId}`} variant="default">
          To the agent
        </Button>
      </Group>
    </Stack>
  );
}

function Causes({ token }: { readonly token: string | null }) {
  const [long, setLong] = useState(false);
  const gatewayUrl = useConfig().data?.proxyUrl ?? GATEWAY_PLACE;
  useEffect(() => {
    const timer = setTimeout(() => setLong(true), LONG_MS);
    return () => clearTimeout(timer);
  }, []);
  if (!long) return null;
  return (
    <Alert color="indigo" variant="light" title="Nothing yet? The three usual causes">
      <List size="sm" spacing="xs">
        <List.Item>The SDK still has the provider’s own base URL: it must begin with {gatewayUrl}.</List.Item>
        <List.Item>
          The provider’s key is still in the environment, and the SDK takes it instead of the token.
        </List.Item>
        <List.Item>
          The agent cannot reach the gateway. Where it runs, this must answer who it is:
          <Code
            block
            mt="xs"
            className="acg-code"
          >{`curl ${gatewayUrl}/v1/self -H "authorization: Bearer ${token ?? TOKEN_PLACE}"`}</Code>
        </List.Item>
      </List>
    </Alert>
  );
}

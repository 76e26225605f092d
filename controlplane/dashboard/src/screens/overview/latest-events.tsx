/** What happened last. */
import { Anchor, Card, Group, Skeleton, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { api } from '../../api/api.js';
import { Ago } from '../../parts/ago.js';
import { eventName } from '../../parts/event-name.js';
import { Failure } from '../../parts/failure.js';
import { Nothing } from '../../parts/nothing.js';

const SHOWN = 5;

export function LatestEvents() {
  const events = useQuery({
    queryKey: ['events', 'latest'],
    queryFn: () => api.get('/v1/events', { params: { query: { limit: SHOWN } } }),
    refetchInterval: 30_000,
  });
  return (
    <Card component="section" aria-label="Latest events">
      <Title order={2} mb="md">
        Latest events
      </Title>
      {events.isPending && <Skeleton h={100} />}
      {events.error !== null && <Failure error={events.error} onRetry={() => void events.refetch()} />}
      {events.data?.events.length === 0 && <Nothing title="Nothing has happened yet" />}
      <Stack gap="xs">
        {events.data?.events.map(({ id, event, occurredAt, data }) => (
          <Group key={id} justify="space-between" gap="sm" wrap="nowrap">
            <Text size="sm" truncate>
              {eventName(event)}
              <About data={data} />
            </Text>
            <Text size="sm" c="dimmed" flex="none">
              <Ago at={occurredAt} />
            </Text>
          </Group>
        ))}
      </Stack>
    </Card>
  );
}

/** The agent or provider that it is about, where its data names one. */
function About({ data }: { readonly data: Readonly<Record<string, unknown>> }) {
  const { agentId, agentName, providerSlug } = data;
  if (typeof agentId === 'string' && typeof agentName === 'string') {
    return (
      <>
        {': '}
        <Anchor component={Link} href={`/agents/${agentId}`} inherit underline="always">
          {agentName}
        </Anchor>
      </>
    );
  }
  return typeof providerSlug === 'string' ? `: ${providerSlug}` : null;
}

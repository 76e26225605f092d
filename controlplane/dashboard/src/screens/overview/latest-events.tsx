/** The latest events, on the overview. */
import { Anchor, Card, Group, Skeleton, Stack, Text, Title } from '@mantine/core';
import { Link } from 'wouter';
import { EmptyState } from '../../components/feedback/empty-state.js';
import { ErrorAlert } from '../../components/feedback/error-alert.js';
import { RelativeTime } from '../../components/feedback/relative-time.js';
import { providerLabel } from '../../messages/provider-labels.js';
import { useLatestEvents } from '../../resources/has-unseen-alerts-in-this-browser.js';
import { useEventTypes } from '../../resources/use-event-types.js';

const EVENTS_SHOWN = 5;

export function LatestEvents() {
  const events = useLatestEvents();
  const { titleOf } = useEventTypes();
  return (
    <Card component="section" aria-label="Latest events">
      <Group justify="space-between" mb="md" wrap="nowrap">
        <Title order={2}>Latest events</Title>
        <Anchor component={Link} href="/alerts" size="xs" fw={600}>
          All alerts
        </Anchor>
      </Group>
      {events.isPending && <Skeleton h={100} />}
      {events.error !== null && <ErrorAlert error={events.error} onRetry={events.refetch} />}
      {events.data?.events.length === 0 && <EmptyState title="No events yet" />}
      <Stack gap="xs">
        {events.data?.events.slice(0, EVENTS_SHOWN).map(({ id, event, occurredAt, data }) => (
          <Group key={id} justify="space-between" gap="sm" wrap="nowrap">
            <Text size="sm" truncate>
              {titleOf(event)}
              <EventSubject data={data} />
            </Text>
            <Text size="sm" c="dimmed" flex="none">
              <RelativeTime at={occurredAt} />
            </Text>
          </Group>
        ))}
      </Stack>
    </Card>
  );
}

/** The agent or provider of an event, if its data names one. */
function EventSubject({ data }: { readonly data: Readonly<Record<string, unknown>> }) {
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
  return typeof providerSlug === 'string' ? `: ${providerLabel(providerSlug)}` : null;
}

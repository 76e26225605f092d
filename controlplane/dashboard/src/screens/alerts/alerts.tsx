/** What happened that somebody should know of, and what of it is mailed. */
import { Button, Code, Group, NativeSelect, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { Gauge, Mail } from 'lucide-react';
import { lazy, Suspense, useEffect, useState } from 'react';
import { api } from '../../api/api.js';
import { useMe } from '../../api/session.js';
import { Ago } from '../../parts/ago.js';
import { callsForSomebody, markSeen, seenUntil } from '../../parts/alert-news.js';
import { DataTable } from '../../parts/data-table.js';
import { DayRange } from '../../parts/day-range.js';
import { EVENT_NAMES, eventName } from '../../parts/event-name.js';
import { GuardedButton } from '../../parts/guarded-button.js';
import { Nothing } from '../../parts/nothing.js';
import { PageHeader } from '../../parts/page-header.js';
import { useSearchState } from '../../parts/search-state.js';
import { StatusBadge } from '../../parts/status-badge.js';
import { About } from './about.js';
import { eventDetail } from './event-detail.js';
import { EventMail } from './event-mail.js';

const Thresholds = lazy(async () => ({ default: (await import('./thresholds.js')).Thresholds }));

const DEFAULTS = { event: '', agent: '', start: '', end: '', page: 1 };
const PAGE_SIZE = 50;
const REFETCH_MS = 15_000;

type EventName = (typeof EVENT_NAMES)[number];

function readEvents({ event, agent, start, end, page }: typeof DEFAULTS) {
  const query = {
    ...(event === '' ? {} : { event: event as EventName }),
    ...(agent === '' ? {} : { agentId: agent }),
    ...(start === '' ? {} : { start }),
    ...(end === '' ? {} : { end }),
    limit: PAGE_SIZE,
    offset: (page - 1) * PAGE_SIZE,
  };
  return api.get('/v1/events', { params: { query } });
}

export function Alerts() {
  const { values, set, clear, filtered } = useSearchState(DEFAULTS);
  const [choosing, mail] = useDisclosure(false);
  const [warning, thresholds] = useDisclosure(false);
  const orgId = useMe().data?.orgId ?? '';
  // As it was when somebody came here: what is new stays marked while they read.
  const [seen] = useState(() => seenUntil(orgId));
  const events = useQuery({
    queryKey: ['events', values],
    queryFn: () => readEvents(values),
    refetchInterval: REFETCH_MS,
  });
  const newest = filtered || values.page > 1 ? undefined : events.data?.events[0]?.occurredAt;
  useEffect(() => {
    if (newest !== undefined) markSeen(orgId, newest);
  }, [orgId, newest]);
  return (
    <>
      <PageHeader
        title="Alerts"
        description="What happened in the last 30 days. Days are UTC."
        actions={
          <>
            <GuardedButton
              needs="member"
              variant="default"
              leftSection={<Gauge size={16} aria-hidden />}
              onClick={thresholds.open}
            >
              Budget thresholds
            </GuardedButton>
            <Button variant="default" leftSection={<Mail size={16} aria-hidden />} onClick={mail.open}>
              Mail to me
            </Button>
          </>
        }
      />
      <Group gap="sm" mb="md" align="flex-end" className="acg-filters">
        <NativeSelect
          label="Event"
          data={[
            { value: '', label: 'Any event' },
            ...EVENT_NAMES.map((name) => ({ value: name, label: eventName(name) })),
          ]}
          value={values.event}
          onChange={(event) => set({ event: event.currentTarget.value })}
        />
        <DayRange start={values.start} end={values.end} onChange={set} />
        {values.agent !== '' && (
          <Button variant="default" onClick={() => set({ agent: '' })}>
            All agents’
          </Button>
        )}
        {filtered && (
          <Button variant="subtle" onClick={clear}>
            Clear filters
          </Button>
        )}
      </Group>
      <DataTable
        label="Events"
        query={events}
        rows={(data) => data.events}
        rowKey={({ id }) => id}
        filtered={filtered}
        onClearFilters={clear}
        paging={({ total }) => ({ page: values.page, pageSize: PAGE_SIZE, total, onPage: (page) => set({ page }) })}
        empty={<Nothing title="Nothing has happened yet" text="Agents, budgets, providers and webhooks speak here." />}
        columns={[
          {
            header: 'Event',
            cell: ({ event, occurredAt }) => (
              <Stack gap={2} align="flex-start">
                {seen !== null && occurredAt > seen && callsForSomebody(event) ? (
                  <StatusBadge tone="bad">{`${eventName(event)}, new`}</StatusBadge>
                ) : (
                  eventName(event)
                )}
                <Code>{event}</Code>
              </Stack>
            ),
          },
          {
            header: 'About',
            cell: ({ event, data }) => <About event={event} data={data} onlyAgent={(agent) => set({ agent })} />,
          },
          {
            header: 'Details',
            cell: ({ event, data }) => (
              <Text size="sm" span>
                {eventDetail(event, data)}
              </Text>
            ),
          },
          { header: 'When', cell: ({ occurredAt }) => <Ago at={occurredAt} /> },
        ]}
      />
      <Suspense>{warning && <Thresholds onClose={thresholds.close} />}</Suspense>
      {choosing && <EventMail onClose={mail.close} />}
    </>
  );
}

/** The Alerts page: recent events, and which of them are sent by e-mail. */
import { Button, Code, NativeSelect, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { ChartNoAxesColumnIncreasing, Gauge, Mail } from 'lucide-react';
import { lazy, Suspense, useEffect, useState } from 'react';
import { Link } from 'wouter';
import { api } from '../../api/api-client.js';
import { useMe } from '../../api/session.js';
import { useQuery } from '../../api/use-query.js';
import { RoleGuardedButton } from '../../components/buttons/role-guarded-button.js';
import { EmptyState } from '../../components/feedback/empty-state.js';
import { RelativeTime } from '../../components/feedback/relative-time.js';
import { StatusBadge } from '../../components/feedback/status-badge.js';
import { DateRangeInputs } from '../../components/forms/date-range-inputs.js';
import { FilterBar } from '../../components/forms/filter-bar.js';
import { PageHeader } from '../../components/layout/page-header.js';
import { DataTable } from '../../components/tables/data-table.js';
import { useUrlState } from '../../hooks/use-url-state.js';
import { markAlertsSeen, readSeenUntil } from '../../resources/has-unseen-alerts-in-this-browser.js';
import { type EventName, useEventTypes } from '../../resources/use-event-types.js';
import { describeEvent } from './describe-event.js';
import { EventMailDialog } from './event-mail-dialog.js';
import { EventSubjectLinks } from './event-subject-links.js';
import { OpenAlerts } from './open-alerts.js';

const BudgetThresholdsDialog = lazy(async () => ({
  default: (await import('./select-agents-and-thresholds-dialog.js')).SelectAgentsAndThresholdsDialog,
}));

const DEFAULTS = { event: '', agent: '', start: '', end: '', page: 1 };
const PAGE_SIZE = 50;
const REFETCH_MS = 15_000;

function fetchEvents({ event, agent, start, end, page }: typeof DEFAULTS) {
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

export function AlertsPage() {
  const { values, set, clear, isFiltered } = useUrlState(DEFAULTS);
  const { types, titleOf, needsAttention } = useEventTypes();
  const [isMailOpen, mail] = useDisclosure(false);
  const [areThresholdsOpen, thresholds] = useDisclosure(false);
  const orgId = useMe().data?.orgId ?? '';
  // The value when the page was opened, so that new alerts stay marked while the user reads.
  const [seenUntil] = useState(() => readSeenUntil(orgId));
  const events = useQuery({
    queryKey: ['events', values],
    queryFn: () => fetchEvents(values),
    refetchInterval: REFETCH_MS,
  });
  const newest = isFiltered || values.page > 1 ? undefined : events.data?.events[0]?.occurredAt;
  useEffect(() => {
    if (newest !== undefined) markAlertsSeen(orgId, newest);
  }, [orgId, newest]);
  return (
    <>
      <PageHeader
        title="Alerts"
        description="Events of the last 30 days. Days are UTC."
        actions={
          <>
            <Button
              component={Link}
              href="/alerts/rules"
              variant="default"
              leftSection={<ChartNoAxesColumnIncreasing size={16} aria-hidden />}
            >
              Alert rules
            </Button>
            <RoleGuardedButton
              requiredRole="member"
              variant="default"
              leftSection={<Gauge size={16} aria-hidden />}
              onClick={thresholds.open}
            >
              Budget thresholds
            </RoleGuardedButton>
            <Button variant="default" leftSection={<Mail size={16} aria-hidden />} onClick={mail.open}>
              E-mail alerts
            </Button>
          </>
        }
      />
      <OpenAlerts />
      <FilterBar isFiltered={isFiltered}>
        <NativeSelect
          label="Event"
          data={[
            { value: '', label: 'Any event' },
            ...types
              .filter(({ webhooksOnly }) => !webhooksOnly)
              .map(({ event, title }) => ({ value: event, label: title })),
          ]}
          value={values.event}
          onChange={(event) => set({ event: event.currentTarget.value })}
        />
        <DateRangeInputs start={values.start} end={values.end} onChange={set} />
        {values.agent !== '' && (
          <Button variant="default" onClick={() => set({ agent: '' })}>
            All agents
          </Button>
        )}
        {isFiltered && (
          <Button variant="subtle" onClick={clear}>
            Clear filters
          </Button>
        )}
      </FilterBar>
      <DataTable
        label="Events"
        query={events}
        rows={(data) => data.events}
        rowKey={({ id }) => id}
        filtered={isFiltered}
        onClearFilters={clear}
        paging={({ total }) => ({ page: values.page, pageSize: PAGE_SIZE, total, onPage: (page) => set({ page }) })}
        empty={
          <EmptyState title="No events yet" text="Events of agents, budgets, providers and webhooks appear here." />
        }
        columns={[
          {
            header: 'Event',
            cell: ({ event, occurredAt }) => (
              <Stack gap={2} align="flex-start">
                {seenUntil !== null && occurredAt > seenUntil && needsAttention(event) ? (
                  <StatusBadge tone="error">{`${titleOf(event)}, new`}</StatusBadge>
                ) : (
                  titleOf(event)
                )}
                <Code>{event}</Code>
              </Stack>
            ),
          },
          {
            header: 'About',
            cell: ({ event, data }) => (
              <EventSubjectLinks event={event} data={data} onFilterAgent={(agent) => set({ agent })} />
            ),
          },
          {
            header: 'Details',
            cell: ({ event, data }) => (
              <Text size="sm" span>
                {describeEvent(event, data)}
              </Text>
            ),
          },
          { header: 'Time', cell: ({ occurredAt }) => <RelativeTime at={occurredAt} /> },
        ]}
      />
      <Suspense>{areThresholdsOpen && <BudgetThresholdsDialog onClose={thresholds.close} />}</Suspense>
      {isMailOpen && <EventMailDialog onClose={mail.close} />}
    </>
  );
}

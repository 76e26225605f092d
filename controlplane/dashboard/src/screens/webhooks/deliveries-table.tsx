/** Deliveries of a webhook endpoint, with retry and replay. */
import { Button, Group, NativeSelect, Stack } from '@mantine/core';
import { keepPreviousData, useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useQuery } from '../../api/use-query.js';
import { RoleGuardedButton } from '../../components/buttons/role-guarded-button.js';
import { EmptyState } from '../../components/feedback/empty-state.js';
import { RelativeTime } from '../../components/feedback/relative-time.js';
import { showErrorToast, showToast } from '../../components/feedback/toast.js';
import { DataTable } from '../../components/tables/data-table.js';
import { NO_VALUE } from '../../format/format.js';
import { useUrlSorting } from '../../hooks/use-url-sorting.js';
import { useUrlState } from '../../hooks/use-url-state.js';
import { useEventTypes } from '../../resources/use-event-types.js';
import { FAILURE_TEXTS } from './delivery-attempts.js';
import { DeliveryDrawer } from './delivery-drawer.js';
import { DeliveryStatusBadge } from './delivery-status-badge.js';
import {
  DELIVERY_SORTS,
  type DeliveryStatus,
  type Endpoint,
  fetchDeliveries,
  formatReplayedCount,
  PAGE_SIZE,
  replayDeliveries,
  useRetryDelivery,
} from './fetch-webhooks-retry-deliveries.js';
import { ReplayDialog } from './replay-dialog.js';

const DEFAULTS = { status: '', event: '', delivery: '', page: 1 };
const STATUSES: readonly DeliveryStatus[] = ['pending', 'success', 'failed'];
/** Pending deliveries change without user action. */
const REFETCH_MS = 3_000;

export function DeliveriesTable({ endpoint }: { readonly endpoint: Endpoint }) {
  const { id } = endpoint;
  const { values, set, clear } = useUrlState(DEFAULTS);
  const { titleOf } = useEventTypes();
  const [replaying, setReplaying] = useState(false);
  const status = STATUSES.find((one) => one === values.status) ?? null;
  const event = endpoint.events.find((one) => one === values.event) ?? null;
  const filtered = status !== null || event !== null;
  const { query, sorting } = useUrlSorting(DELIVERY_SORTS);
  const deliveries = useQuery({
    queryKey: ['webhooks', 'deliveries', id, status, event, values.page, query],
    queryFn: () => fetchDeliveries(id, { status, event, page: values.page, ...query }),
    placeholderData: keepPreviousData,
    refetchInterval: REFETCH_MS,
  });
  const retry = useRetryDelivery();
  const retryAll = useMutation({
    mutationFn: () =>
      replayDeliveries(id, { start: endpoint.createdAt, end: new Date().toISOString(), status: ['failed'] }),
    onSuccess: ({ replayed, remaining }) =>
      showToast(
        remaining === 0
          ? formatReplayedCount(replayed)
          : `${formatReplayedCount(replayed)}; ${remaining} left, retry to continue`,
      ),
    onError: showErrorToast,
  });
  const pausedReason = endpoint.status === 'paused' ? 'The endpoint is paused.' : null;
  const hrefOf = (deliveryId: string): string => {
    const search = new URLSearchParams({
      ...(status === null ? {} : { status }),
      ...(event === null ? {} : { event }),
    });
    search.set('delivery', deliveryId);
    if (values.page > 1) search.set('page', String(values.page));
    return `/webhooks/${id}?${search}`;
  };
  return (
    <Stack gap="md">
      <Group align="flex-end" justify="space-between" gap="sm">
        <Group align="flex-end" gap="sm">
          <NativeSelect
            label="Deliveries"
            data={[{ value: '', label: 'All' }, ...STATUSES]}
            value={status ?? ''}
            onChange={(change) => set({ status: change.currentTarget.value })}
          />
          <NativeSelect
            label="Event"
            w={220}
            data={[
              { value: '', label: 'Any event' },
              ...endpoint.events.map((name) => ({ value: name, label: titleOf(name) })),
            ]}
            value={event ?? ''}
            onChange={(change) => set({ event: change.currentTarget.value })}
          />
          {filtered && (
            <Button variant="subtle" onClick={clear}>
              Clear filters
            </Button>
          )}
        </Group>
        <Group gap="sm">
          <RoleGuardedButton
            requiredRole="admin"
            variant="default"
            disabledReason={pausedReason}
            loading={retryAll.isPending}
            onClick={() => retryAll.mutate()}
          >
            Retry all failed
          </RoleGuardedButton>
          <RoleGuardedButton
            requiredRole="admin"
            variant="default"
            disabledReason={pausedReason}
            onClick={() => setReplaying(true)}
          >
            Replay…
          </RoleGuardedButton>
        </Group>
      </Group>
      <DataTable
        label="Deliveries"
        query={deliveries}
        rows={(data) => data.deliveries}
        rowKey={(delivery) => delivery.id}
        href={(delivery) => hrefOf(delivery.id)}
        sorting={sorting}
        filtered={filtered}
        onClearFilters={clear}
        paging={({ total }) => ({ page: values.page, pageSize: PAGE_SIZE, total, onPage: (page) => set({ page }) })}
        empty={<EmptyState title="No deliveries yet" text="Send a test event to check the endpoint." />}
        columns={[
          { header: 'Event', cell: (delivery) => delivery.event },
          {
            header: 'Status',
            isBesideTitle: true,
            cell: (delivery) => <DeliveryStatusBadge delivery={delivery} />,
          },
          {
            header: 'Response',
            cell: ({ statusCode, error }) =>
              statusCode ?? (error === null ? NO_VALUE : (FAILURE_TEXTS[error] ?? error)),
          },
          { header: 'Attempts', numeric: true, sortKey: 'attempts', cell: ({ attempts }) => attempts },
          {
            header: 'Last attempt',
            sortKey: 'lastAttemptAt',
            cell: ({ lastAttemptAt }) => <RelativeTime at={lastAttemptAt} />,
          },
          {
            header: 'Created',
            sortKey: 'createdAt',
            cell: ({ createdAt }) => <RelativeTime at={createdAt} />,
            wideOnly: true,
          },
          {
            header: 'Actions',
            cell: (delivery) =>
              delivery.status === 'failed' && (
                <Group justify="flex-end">
                  <RoleGuardedButton
                    requiredRole="member"
                    size="xs"
                    variant="default"
                    disabledReason={pausedReason}
                    loading={retry.isPending && retry.variables === delivery.id}
                    onClick={() => retry.mutate(delivery.id)}
                  >
                    Retry
                  </RoleGuardedButton>
                </Group>
              ),
          },
        ]}
      />
      <DeliveryDrawer id={values.delivery} onClose={() => set({ delivery: '', page: values.page })} />
      {replaying && <ReplayDialog endpoint={endpoint} onClose={() => setReplaying(false)} />}
    </Stack>
  );
}

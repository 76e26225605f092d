/** What was delivered to an endpoint, what was not and why, and another try. */
import { Button, Group, NativeSelect, Stack } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Ago } from '../../parts/ago.js';
import { DataTable } from '../../parts/data-table.js';
import { GuardedButton } from '../../parts/guarded-button.js';
import { Nothing } from '../../parts/nothing.js';
import { useSearchState } from '../../parts/search-state.js';
import { StatusBadge } from '../../parts/status-badge.js';
import { toast, toastFailure } from '../../parts/toast.js';
import { DeliveryDrawer } from './delivery-drawer.js';
import {
  type DeliveryStatus,
  type Endpoint,
  EVENTS,
  PAGE_SIZE,
  readDeliveries,
  replay,
  sentAgain,
  toneOfDelivery,
  useRetryDelivery,
} from './endpoints.js';
import { ReplayDialog } from './replay-dialog.js';

const DEFAULTS = { status: '', event: '', delivery: '', page: 1 };
const STATUSES: readonly DeliveryStatus[] = ['pending', 'success', 'failed'];
/** Deliveries under way change by themselves. */
const REFRESH_MS = 3_000;

export function Deliveries({ endpoint }: { readonly endpoint: Endpoint }) {
  const { id } = endpoint;
  const { values, set, clear } = useSearchState(DEFAULTS);
  const [replaying, setReplaying] = useState(false);
  const status = STATUSES.find((one) => one === values.status) ?? null;
  const event = endpoint.events.find((one) => one === values.event) ?? null;
  const filtered = status !== null || event !== null;
  const deliveries = useQuery({
    queryKey: ['webhooks', 'deliveries', id, status, event, values.page],
    queryFn: () => readDeliveries(id, { status, event, page: values.page }),
    refetchInterval: REFRESH_MS,
  });
  const retry = useRetryDelivery();
  const retryAll = useMutation({
    mutationFn: () => replay(id, { start: endpoint.createdAt, end: new Date().toISOString(), status: ['failed'] }),
    onSuccess: ({ replayed, remaining }) =>
      toast(remaining === 0 ? sentAgain(replayed) : `${sentAgain(replayed)}; ${remaining} are left, press again`),
    onError: toastFailure,
  });
  const paused = endpoint.status === 'paused' ? 'The endpoint is paused.' : null;
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
            data={[{ value: '', label: 'all' }, ...STATUSES]}
            value={status ?? ''}
            onChange={(change) => set({ status: change.currentTarget.value })}
          />
          <NativeSelect
            label="Event"
            w={220}
            data={[
              { value: '', label: 'any' },
              ...endpoint.events.map((name) => ({ value: name, label: EVENTS[name] })),
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
          <GuardedButton
            needs="admin"
            variant="default"
            whyNot={paused}
            loading={retryAll.isPending}
            onClick={() => retryAll.mutate()}
          >
            Retry all failed
          </GuardedButton>
          <GuardedButton needs="admin" variant="default" whyNot={paused} onClick={() => setReplaying(true)}>
            Replay …
          </GuardedButton>
        </Group>
      </Group>
      <DataTable
        label="Deliveries"
        query={deliveries}
        rows={(data) => data.deliveries}
        rowKey={(delivery) => delivery.id}
        href={(delivery) => hrefOf(delivery.id)}
        filtered={filtered}
        onClearFilters={clear}
        paging={({ total }) => ({ page: values.page, pageSize: PAGE_SIZE, total, onPage: (page) => set({ page }) })}
        empty={<Nothing title="Nothing was delivered yet" text="Send a test to see whether it arrives." />}
        columns={[
          { header: 'Event', cell: (delivery) => delivery.event },
          {
            header: 'Status',
            cell: (delivery) => <StatusBadge tone={toneOfDelivery(delivery.status)}>{delivery.status}</StatusBadge>,
          },
          { header: 'Answer', cell: ({ statusCode, error }) => statusCode ?? error ?? '–' },
          { header: 'Tries', numeric: true, cell: ({ attempts }) => attempts },
          { header: 'Last try', cell: ({ lastAttemptAt }) => <Ago at={lastAttemptAt} /> },
          { header: 'Made', cell: ({ createdAt }) => <Ago at={createdAt} />, wideOnly: true },
          {
            header: 'Actions',
            cell: (delivery) =>
              delivery.status === 'failed' && (
                <Group justify="flex-end">
                  <GuardedButton
                    needs="member"
                    size="xs"
                    variant="default"
                    whyNot={paused}
                    loading={retry.isPending && retry.variables === delivery.id}
                    onClick={() => retry.mutate(delivery.id)}
                  >
                    Send again
                  </GuardedButton>
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

/** One endpoint: what was delivered to it, what was not and why, and another try. */
import { ApiError } from '@acg/client/api-error';
import { Anchor, Card, Group, NativeSelect, Stack, Text } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useLocation, useParams } from 'wouter';
import { api } from '../../api/api.js';
import { queryClient } from '../../api/query-client.js';
import { Ago } from '../../parts/ago.js';
import { Confirm } from '../../parts/confirm.js';
import { DataTable } from '../../parts/data-table.js';
import { Failure } from '../../parts/failure.js';
import { GuardedButton } from '../../parts/guarded-button.js';
import { Nothing } from '../../parts/nothing.js';
import { PageHeader } from '../../parts/page-header.js';
import { useSearchState } from '../../parts/search-state.js';
import { StatusBadge } from '../../parts/status-badge.js';
import { toast, toastFailure } from '../../parts/toast.js';
import { DeliveryDrawer } from './delivery-drawer.js';
import { EndpointDialog } from './endpoint-dialog.js';
import {
  type DeliveryStatus,
  EVENTS,
  PAGE_SIZE,
  readDeliveries,
  refreshWebhooks,
  toneOfDelivery,
} from './endpoints.js';

const DEFAULTS = { status: '', delivery: '', page: 1 };
const STATUSES: readonly DeliveryStatus[] = ['pending', 'success', 'failed'];
/** Deliveries under way change by themselves. */
const REFRESH_MS = 3_000;

export function EndpointPage() {
  const id = useParams().id ?? '';
  const [, navigate] = useLocation();
  const { values, set, clear, filtered } = useSearchState(DEFAULTS);
  const [editing, setEditing] = useState(false);
  const [deleting, setDeleting] = useState(false);
  const path = { id };
  const status = STATUSES.find((one) => one === values.status) ?? null;
  const remove = useMutation({
    mutationFn: () => api.delete('/v1/webhooks/{id}', { params: { path } }),
    onSuccess: () => {
      navigate('/webhooks');
      // What belonged to it is gone: nobody asks for it again.
      queryClient.removeQueries({ queryKey: ['webhooks', 'deliveries', id] });
      queryClient.removeQueries({ queryKey: ['webhooks', 'endpoint', id] });
      void queryClient.invalidateQueries({ queryKey: ['webhooks', 'list'] });
      toast('The endpoint is deleted');
    },
  });
  const asked = useQuery({
    queryKey: ['webhooks', 'endpoint', id],
    queryFn: () => api.get('/v1/webhooks/{id}', { params: { path } }),
    enabled: remove.isIdle || remove.isError,
  });
  const endpoint = asked.data?.endpoint;
  const deliveries = useQuery({
    queryKey: ['webhooks', 'deliveries', id, status, values.page],
    queryFn: () => readDeliveries(id, status, values.page),
    enabled: remove.isIdle || remove.isError,
    refetchInterval: REFRESH_MS,
  });
  const test = useMutation({
    mutationFn: () => api.post('/v1/webhooks/{id}/test', { params: { path } }),
    onSuccess: () => {
      refreshWebhooks();
      toast('A test is on its way');
    },
    onError: toastFailure,
  });
  const pause = useMutation({
    mutationFn: (next: 'active' | 'paused') =>
      api.patch('/v1/webhooks/{id}', { params: { path }, body: { status: next } }),
    onSuccess: refreshWebhooks,
    onError: toastFailure,
  });
  const retry = useMutation({
    mutationFn: (deliveryId: string) =>
      api.post('/v1/webhooks/deliveries/{deliveryId}/retry', { params: { path: { deliveryId } } }),
    onSuccess: () => {
      refreshWebhooks();
      toast('It is sent again');
    },
    onError: toastFailure,
  });
  const isMissing = asked.error instanceof ApiError && asked.error.status === 404;
  if (asked.error !== null && !isMissing) return <Failure error={asked.error} onRetry={() => void asked.refetch()} />;
  if (isMissing) {
    return (
      <Nothing
        title="No such endpoint"
        action={
          <Anchor component={Link} href="/webhooks" size="sm">
            All endpoints
          </Anchor>
        }
      />
    );
  }
  const active = endpoint?.status === 'active';
  return (
    <>
      <PageHeader
        title={endpoint?.url ?? 'Endpoint'}
        description={
          <Anchor component={Link} href="/webhooks" size="sm">
            All endpoints
          </Anchor>
        }
        actions={
          <>
            <GuardedButton
              needs="admin"
              loading={test.isPending}
              whyNot={active ? null : 'The endpoint is paused.'}
              onClick={() => test.mutate()}
            >
              Send a test
            </GuardedButton>
            <GuardedButton
              needs="admin"
              variant="default"
              loading={pause.isPending}
              onClick={() => pause.mutate(active ? 'paused' : 'active')}
            >
              {active ? 'Pause' : 'Resume'}
            </GuardedButton>
            <GuardedButton needs="admin" variant="default" onClick={() => setEditing(true)}>
              Edit
            </GuardedButton>
            <GuardedButton needs="admin" variant="light" color="red" onClick={() => setDeleting(true)}>
              Delete
            </GuardedButton>
          </>
        }
      />
      <Stack gap="md">
        {endpoint !== undefined && (
          <Card>
            <Stack gap="xs">
              <Text size="sm" component="div">
                <StatusBadge tone={active ? 'good' : endpoint.pausedReason === 'failing' ? 'bad' : 'quiet'}>
                  {endpoint.pausedReason === 'failing' ? 'paused: it failed for days' : endpoint.status}
                </StatusBadge>
              </Text>
              <Text size="sm" c="dimmed">
                Is told: {endpoint.events.map((name) => EVENTS[name].toLowerCase()).join('; ')}.
              </Text>
            </Stack>
          </Card>
        )}
        <Group align="flex-end" gap="sm">
          <NativeSelect
            label="Deliveries"
            data={[{ value: '', label: 'all' }, ...STATUSES]}
            value={status ?? ''}
            onChange={(event) => set({ status: event.currentTarget.value })}
          />
        </Group>
        <DataTable
          label="Deliveries"
          query={deliveries}
          rows={(data) => data.deliveries}
          rowKey={(delivery) => delivery.id}
          href={(delivery) => `/webhooks/${id}?delivery=${delivery.id}${status === null ? '' : `&status=${status}`}`}
          filtered={filtered && values.delivery === ''}
          onClearFilters={clear}
          paging={({ total }) => ({ page: values.page, pageSize: PAGE_SIZE, total, onPage: (page) => set({ page }) })}
          empty={<Nothing title="Nothing was delivered yet" text="Send a test to see whether it arrives." />}
          columns={[
            { header: 'Event', cell: ({ event }) => event },
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
                  <GuardedButton
                    needs="member"
                    size="xs"
                    variant="default"
                    loading={retry.isPending && retry.variables === delivery.id}
                    onClick={() => retry.mutate(delivery.id)}
                  >
                    Send again
                  </GuardedButton>
                ),
            },
          ]}
        />
      </Stack>
      <DeliveryDrawer id={values.delivery} onClose={() => set({ delivery: '', page: values.page })} />
      {editing && endpoint !== undefined && (
        <EndpointDialog
          endpoint={endpoint}
          onClose={() => setEditing(false)}
          onSaved={() => {
            refreshWebhooks();
            setEditing(false);
            toast('The endpoint is saved');
          }}
        />
      )}
      <Confirm
        opened={deleting}
        onClose={() => setDeleting(false)}
        title="Delete endpoint"
        action="Delete endpoint"
        onConfirm={() => remove.mutate()}
        pending={remove.isPending}
        error={remove.error}
      >
        Nothing is sent there any more; its deliveries are gone.
      </Confirm>
    </>
  );
}

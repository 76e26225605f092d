/**
 * The Breakers tab: the state of the organization's breaker for each provider address. Admins can close a breaker or
 * hold it open.
 */
import { Code, Group, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/api-client.js';
import { useQuery } from '../../api/use-query.js';
import { EmptyState } from '../../components/feedback/empty-state.js';
import { RelativeTime } from '../../components/feedback/relative-time.js';
import { StatusBadge } from '../../components/feedback/status-badge.js';
import { showToast } from '../../components/feedback/toast.js';
import { ConfirmDialog } from '../../components/forms/confirm-dialog.js';
import { DataTable } from '../../components/tables/data-table.js';
import { RowActionButton } from '../../components/tables/row-action-button.js';

const PAGE_SIZE = 50;
const REFETCH_MS = 15_000;
const HOLD_MINUTES = 60;
const STATE_LABELS = {
  CLOSED: { tone: 'success', text: 'Closed (calls pass)' },
  HALF_OPEN: { tone: 'warning', text: 'Recovering (half-open)' },
  OPEN: { tone: 'error', text: 'Open (calls blocked)' },
} as const;
const REASON_LABELS = {
  error_rate: 'too many calls failed',
  probe_failed: 'the recovery probe failed',
  connect: 'the gateway cannot connect',
  held: 'held open by an admin or the operator',
} as const;

interface BreakersTabProps {
  readonly page: number;
  readonly onPage: (page: number) => void;
}

interface BreakerOverride {
  readonly providerSlug: string;
  readonly origin: string;
  readonly displayName: string;
  readonly state: 'CLOSED' | 'OPEN';
}

export function BreakersTab({ page, onPage }: BreakersTabProps) {
  const query = { limit: PAGE_SIZE, offset: (page - 1) * PAGE_SIZE };
  const queryClient = useQueryClient();
  const [toHoldOpen, setToHoldOpen] = useState<Omit<BreakerOverride, 'state'> | null>(null);
  const breakers = useQuery({
    queryKey: ['circuits', query],
    queryFn: () => api.get('/v1/circuits', { params: { query } }),
    refetchInterval: REFETCH_MS,
  });
  const override = useMutation({
    mutationFn: ({ providerSlug, origin, state }: BreakerOverride) =>
      api.put('/v1/circuits', {
        body: { providerSlug, origin, state, ...(state === 'OPEN' ? { holdMinutes: HOLD_MINUTES } : {}) },
      }),
    onSuccess: (_response, { displayName, state }) => {
      setToHoldOpen(null);
      showToast(
        state === 'OPEN' ? `Calls to ${displayName} are blocked for 1 hour` : `Breaker of ${displayName} closed`,
      );
      return queryClient.invalidateQueries({ queryKey: ['circuits'] });
    },
  });
  return (
    <>
      <DataTable
        label="Breakers"
        query={breakers}
        rows={(data) => data.circuits}
        rowKey={({ providerSlug, origin }) => `${providerSlug} ${origin}`}
        paging={({ total }) => ({ page, pageSize: PAGE_SIZE, total, onPage })}
        empty={
          <EmptyState
            title="No breakers yet"
            text="Each provider address that your agents have an account for gets a breaker."
          />
        }
        columns={[
          { header: 'Provider', sortValue: ({ displayName }) => displayName, cell: ({ displayName }) => displayName },
          { header: 'Address', cell: ({ origin }) => <Code className="acg-break-anywhere">{origin}</Code> },
          {
            header: 'Status',
            isBesideTitle: true,
            sortValue: ({ state }) => state,
            cell: ({ state, reason }) => (
              <>
                <StatusBadge tone={STATE_LABELS[state].tone}>{STATE_LABELS[state].text}</StatusBadge>
                {reason !== null && (
                  <Text size="xs" c="dimmed">
                    {REASON_LABELS[reason]}
                  </Text>
                )}
              </>
            ),
          },
          {
            header: 'Since',
            sortValue: ({ since }) => since,
            cell: ({ since }) => <RelativeTime at={since} never="always" />,
          },
          { header: 'Next probe', cell: ({ nextProbeAt }) => <RelativeTime at={nextProbeAt} /> },
          {
            header: 'Accounts',
            numeric: true,
            sortValue: ({ accounts }) => accounts,
            cell: ({ accounts }) => accounts,
          },
          {
            header: 'Actions',
            cell: (breaker) => (
              <Group gap="xs" justify="flex-end" wrap="nowrap">
                <RowActionButton
                  requiredRole="admin"
                  label="Close"
                  rowName={breaker.displayName}
                  disabledReason={breaker.state === 'CLOSED' ? 'The breaker is already closed.' : null}
                  loading={override.isPending && override.variables.origin === breaker.origin}
                  onClick={() => override.mutate({ ...breaker, state: 'CLOSED' })}
                />
                <RowActionButton
                  requiredRole="admin"
                  label="Hold open"
                  rowName={breaker.displayName}
                  isDestructive
                  onClick={() => {
                    override.reset();
                    setToHoldOpen(breaker);
                  }}
                />
              </Group>
            ),
          },
        ]}
      />
      {toHoldOpen !== null && (
        <ConfirmDialog
          opened
          title={`Hold breaker open: ${toHoldOpen.displayName}`}
          action="Hold open for 1 hour"
          onConfirm={() => override.mutate({ ...toHoldOpen, state: 'OPEN' })}
          pending={override.isPending}
          error={override.error}
          onClose={() => setToHoldOpen(null)}
        >
          Every call of this organization to {toHoldOpen.origin} is rejected with 503 for 1 hour, or until you close the
          breaker. For other durations, up to a day, use the CLI: acg circuits hold.
        </ConfirmDialog>
      )}
    </>
  );
}

/** Whether calls to providers pass: the organization's breaker of each address, which admins close or hold open. */
import { Code, Group, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/api-client.js';
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
  CLOSED: { tone: 'good', text: 'closed: calls pass' },
  HALF_OPEN: { tone: 'warn', text: 'half open: being tried' },
  OPEN: { tone: 'bad', text: 'open: calls are refused' },
} as const;
const REASON_LABELS = {
  error_rate: 'too many calls of your agents failed',
  probe_failed: 'it still failed when it was tried',
  connect: 'the gateway cannot connect to it',
  held: 'held open by an admin, or by the operator',
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
  const circuits = useQuery({
    queryKey: ['circuits', query],
    queryFn: () => api.get('/v1/circuits', { params: { query } }),
    refetchInterval: REFETCH_MS,
  });
  const override = useMutation({
    mutationFn: ({ providerSlug, origin, state }: BreakerOverride) =>
      api.put('/v1/circuits', {
        body: { providerSlug, origin, state, ...(state === 'OPEN' ? { holdMinutes: HOLD_MINUTES } : {}) },
      }),
    onSuccess: (_answer, { displayName, state }) => {
      setToHoldOpen(null);
      showToast(
        state === 'OPEN' ? `Calls to ${displayName} are refused for an hour` : `Calls to ${displayName} pass again`,
      );
      return queryClient.invalidateQueries({ queryKey: ['circuits'] });
    },
  });
  return (
    <>
      <DataTable
        label="Circuits"
        query={circuits}
        rows={(data) => data.circuits}
        rowKey={({ providerSlug, origin }) => `${providerSlug} ${origin}`}
        paging={({ total }) => ({ page, pageSize: PAGE_SIZE, total, onPage })}
        empty={
          <EmptyState
            title="No circuit yet"
            text="There is one for each address of a provider that your agents have an account with."
          />
        }
        columns={[
          { header: 'Provider', cell: ({ displayName }) => displayName },
          { header: 'Address', cell: ({ origin }) => <Code className="acg-break">{origin}</Code> },
          {
            header: 'State',
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
          { header: 'Since', cell: ({ since }) => <RelativeTime at={since} never="always" /> },
          { header: 'Tried again', cell: ({ nextProbeAt }) => <RelativeTime at={nextProbeAt} /> },
          { header: 'Accounts', numeric: true, cell: ({ accounts }) => accounts },
          {
            header: 'Actions',
            cell: (circuit) => (
              <Group gap="xs" justify="flex-end" wrap="nowrap">
                <RowActionButton
                  requiredRole="admin"
                  verb="Close"
                  rowName={circuit.displayName}
                  disabledReason={circuit.state === 'CLOSED' ? 'It is closed.' : null}
                  loading={override.isPending && override.variables.origin === circuit.origin}
                  onClick={() => override.mutate({ ...circuit, state: 'CLOSED' })}
                />
                <RowActionButton
                  requiredRole="admin"
                  verb="Hold open"
                  rowName={circuit.displayName}
                  isDestructive
                  onClick={() => {
                    override.reset();
                    setToHoldOpen(circuit);
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
          title={`Hold the circuit of ${toHoldOpen.displayName} open?`}
          action="Hold open for an hour"
          onConfirm={() => override.mutate({ ...toHoldOpen, state: 'OPEN' })}
          pending={override.isPending}
          error={override.error}
          onClose={() => setToHoldOpen(null)}
        >
          Every call of this organization to {toHoldOpen.origin} is refused with 503 for an hour, or until you close it.
          Other spans of time, up to a day, by the command line: acg circuits hold.
        </ConfirmDialog>
      )}
    </>
  );
}

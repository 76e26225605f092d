/** Whether calls to providers pass: the organization's breaker of each address, which admins close or hold open. */
import { Code, Group, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/api.js';
import { Ago } from '../../parts/ago.js';
import { Confirm } from '../../parts/confirm.js';
import { DataTable } from '../../parts/data-table.js';
import { Nothing } from '../../parts/nothing.js';
import { RowButton } from '../../parts/row-button.js';
import { StatusBadge } from '../../parts/status-badge.js';
import { toast } from '../../parts/toast.js';

const PAGE_SIZE = 50;
const REFETCH_MS = 15_000;
const HOLD_MINUTES = 60;
const STATES = {
  CLOSED: { tone: 'good', text: 'closed: calls pass' },
  HALF_OPEN: { tone: 'warn', text: 'half open: being tried' },
  OPEN: { tone: 'bad', text: 'open: calls are refused' },
} as const;
const REASONS = {
  error_rate: 'too many calls of your agents failed',
  probe_failed: 'it still failed when it was tried',
  connect: 'the gateway cannot connect to it',
  held: 'held open by an admin, or by the operator',
} as const;

interface CircuitsProps {
  readonly page: number;
  readonly onPage: (page: number) => void;
}

interface Override {
  readonly providerSlug: string;
  readonly origin: string;
  readonly displayName: string;
  readonly state: 'CLOSED' | 'OPEN';
}

export function Circuits({ page, onPage }: CircuitsProps) {
  const query = { limit: PAGE_SIZE, offset: (page - 1) * PAGE_SIZE };
  const queries = useQueryClient();
  const [holding, setHolding] = useState<Omit<Override, 'state'> | null>(null);
  const circuits = useQuery({
    queryKey: ['circuits', query],
    queryFn: () => api.get('/v1/circuits', { params: { query } }),
    refetchInterval: REFETCH_MS,
  });
  const override = useMutation({
    mutationFn: ({ providerSlug, origin, state }: Override) =>
      api.put('/v1/circuits', {
        body: { providerSlug, origin, state, ...(state === 'OPEN' ? { holdMinutes: HOLD_MINUTES } : {}) },
      }),
    onSuccess: (_answer, { displayName, state }) => {
      setHolding(null);
      toast(
        state === 'OPEN' ? `Calls to ${displayName} are refused for an hour` : `Calls to ${displayName} pass again`,
      );
      return queries.invalidateQueries({ queryKey: ['circuits'] });
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
          <Nothing
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
                <StatusBadge tone={STATES[state].tone}>{STATES[state].text}</StatusBadge>
                {reason !== null && (
                  <Text size="xs" c="dimmed">
                    {REASONS[reason]}
                  </Text>
                )}
              </>
            ),
          },
          { header: 'Since', cell: ({ since }) => <Ago at={since} never="always" /> },
          { header: 'Tried again', cell: ({ nextProbeAt }) => <Ago at={nextProbeAt} /> },
          { header: 'Accounts', numeric: true, cell: ({ accounts }) => accounts },
          {
            header: 'Actions',
            cell: (circuit) => (
              <Group gap="xs" justify="flex-end" wrap="nowrap">
                <RowButton
                  needs="admin"
                  verb="Close"
                  of={circuit.displayName}
                  whyNot={circuit.state === 'CLOSED' ? 'It is closed.' : null}
                  loading={override.isPending && override.variables.origin === circuit.origin}
                  onClick={() => override.mutate({ ...circuit, state: 'CLOSED' })}
                />
                <RowButton
                  needs="admin"
                  verb="Hold open"
                  of={circuit.displayName}
                  grave
                  onClick={() => {
                    override.reset();
                    setHolding(circuit);
                  }}
                />
              </Group>
            ),
          },
        ]}
      />
      {holding !== null && (
        <Confirm
          opened
          title={`Hold the circuit of ${holding.displayName} open?`}
          action="Hold open for an hour"
          onConfirm={() => override.mutate({ ...holding, state: 'OPEN' })}
          pending={override.isPending}
          error={override.error}
          onClose={() => setHolding(null)}
        >
          Every call of this organization to {holding.origin} is refused with 503 for an hour, or until you close it.
          Other spans of time, up to a day, by the command line: acg circuits hold.
        </Confirm>
      )}
    </>
  );
}

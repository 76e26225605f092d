/** Whether providers answer: one that fails is left alone for a while, and agents are told so at once. */
import { Code, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { api } from '../../api/api.js';
import { Ago } from '../../parts/ago.js';
import { DataTable } from '../../parts/data-table.js';
import { Nothing } from '../../parts/nothing.js';
import { StatusBadge } from '../../parts/status-badge.js';

const PAGE_SIZE = 50;
const REFETCH_MS = 15_000;
const STATES = {
  CLOSED: { tone: 'good', text: 'closed: calls pass' },
  HALF_OPEN: { tone: 'warn', text: 'half open: being tried' },
  OPEN: { tone: 'bad', text: 'open: calls are refused' },
} as const;
const REASONS = { error_rate: 'too many calls failed', probe_failed: 'it still failed when it was tried' } as const;

interface CircuitsProps {
  readonly page: number;
  readonly onPage: (page: number) => void;
}

export function Circuits({ page, onPage }: CircuitsProps) {
  const query = { limit: PAGE_SIZE, offset: (page - 1) * PAGE_SIZE };
  const circuits = useQuery({
    queryKey: ['circuits', query],
    queryFn: () => api.get('/v1/circuits', { params: { query } }),
    refetchInterval: REFETCH_MS,
  });
  return (
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
      ]}
    />
  );
}

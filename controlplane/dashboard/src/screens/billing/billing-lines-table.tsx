/** Differences of one billing account by day, hour, key or model. */
import { Group, NativeSelect, Stack, Title } from '@mantine/core';
import { api } from '../../api/api-client.js';
import { useQuery } from '../../api/use-query.js';
import { EmptyState } from '../../components/feedback/empty-state.js';
import { StatusBadge } from '../../components/feedback/status-badge.js';
import { DataTable } from '../../components/tables/data-table.js';
import { formatCents, formatCount, NO_VALUE } from '../../format/format.js';
import { type BillingAccount, STATES } from './billing-report.js';

const PAGE_SIZE = 50;
const GROUPS = [
  { value: 'day', label: 'Day' },
  { value: 'hour', label: 'Hour' },
  { value: 'key', label: 'Key' },
  { value: 'model', label: 'Model' },
  { value: 'line', label: 'Hour, key and model' },
] as const;
const LINE_STATES = ['match', 'pending', 'drift', 'unbilled', 'ambiguous', 'unattributed'] as const;

interface LineValues {
  readonly by: string;
  readonly state: string;
  readonly page: number;
}

interface BillingLinesTableProps {
  readonly account: BillingAccount;
  readonly month: string;
  readonly values: LineValues;
  readonly onChange: (changes: Partial<LineValues>) => void;
}

export function BillingLinesTable({ account, month, values, onChange }: BillingLinesTableProps) {
  const by = GROUPS.find(({ value }) => value === values.by)?.value ?? 'day';
  const state = LINE_STATES.find((name) => name === values.state);
  const { id, name } = account;
  const query = {
    month,
    by,
    limit: PAGE_SIZE,
    offset: (values.page - 1) * PAGE_SIZE,
    ...(state === undefined ? {} : { state }),
  };
  const lines = useQuery({
    queryKey: ['billing', 'lines', id, query],
    queryFn: () => api.get('/v1/billing/accounts/{id}/lines', { params: { path: { id }, query } }),
  });
  return (
    <Stack gap="sm">
      <Title order={2} size="h4">
        {`Differences of ${name}`}
      </Title>
      <Group gap="sm" align="flex-end" className="acg-filters">
        <NativeSelect
          label="Group by"
          data={[...GROUPS]}
          value={by}
          onChange={(event) => onChange({ by: event.currentTarget.value })}
        />
        <NativeSelect
          label="State"
          data={[
            { value: '', label: 'Any state' },
            ...LINE_STATES.map((value) => ({ value, label: STATES[value].label })),
          ]}
          value={state ?? ''}
          onChange={(event) => onChange({ state: event.currentTarget.value })}
        />
      </Group>
      <DataTable
        label="Differences"
        query={lines}
        rows={(data) => data.lines}
        rowKey={({ start, key, model }) => `${start} ${key} ${model}`}
        paging={({ total }) => ({
          page: values.page,
          pageSize: PAGE_SIZE,
          total,
          onPage: (page) => onChange({ page }),
        })}
        empty={<EmptyState title="No lines" text="Neither side has usage in this month, or it was not checked yet." />}
        columns={[
          {
            header: GROUPS.find(({ value }) => value === by)!.label,
            cell: ({ start, key, model }) =>
              [start?.slice(0, by === 'day' ? 10 : 16).replace('T', ' '), key === '' ? 'Key unknown' : key, model]
                .filter((part) => part != null)
                .join(' · '),
          },
          {
            header: 'State',
            cell: (line) => <StatusBadge tone={STATES[line.state].tone}>{STATES[line.state].label}</StatusBadge>,
          },
          {
            header: 'Gateway cost',
            numeric: true,
            sortValue: ({ ourCents }) => ourCents,
            cell: ({ ourCents }) => formatCents(ourCents),
          },
          {
            header: 'Billed cost',
            numeric: true,
            sortValue: ({ theirCents }) => theirCents,
            cell: ({ theirCents }) => formatCents(theirCents),
          },
          {
            header: 'Difference',
            numeric: true,
            sortValue: ({ differenceCents }) => differenceCents,
            cell: ({ differenceCents }) => formatCents(differenceCents),
          },
          {
            header: 'Gateway calls',
            numeric: true,
            wideOnly: true,
            cell: ({ ourRequests }) => formatCount(ourRequests),
          },
          {
            header: 'Billed calls',
            numeric: true,
            wideOnly: true,
            cell: ({ theirRequests }) => (theirRequests === null ? NO_VALUE : formatCount(theirRequests)),
          },
        ]}
      />
    </Stack>
  );
}

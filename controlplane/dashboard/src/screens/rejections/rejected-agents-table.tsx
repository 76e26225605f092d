/** Agents with the most rejections, with their limits. */
import { RATE_LIMITS, type RateLimit } from '@acg/base/limit-definitions';
import { Anchor, Group } from '@mantine/core';
import { keepPreviousData } from '@tanstack/react-query';
import { Link } from 'wouter';
import { api } from '../../api/api-client.js';
import { useQuery } from '../../api/use-query.js';
import { BudgetBar } from '../../components/feedback/budget-bar.js';
import { EmptyState } from '../../components/feedback/empty-state.js';
import type { parseTimeRange } from '../../components/forms/time-range-control.js';
import { DataTable } from '../../components/tables/data-table.js';
import { formatCount, NO_VALUE } from '../../format/format.js';
import type { Agent } from '../../resources/agent-account-and-key-hooks.js';

const ROWS_SHOWN = 10;

type ListedRateLimit = Extract<RateLimit, { inLists: true }>;
const LISTED_RATE_LIMITS = RATE_LIMITS.filter((row): row is ListedRateLimit => row.inLists);
const formatLimit = (value: number | null): string => (value === null ? NO_VALUE : formatCount(value));

interface RejectedAgentsTableProps {
  readonly range: ReturnType<typeof parseTimeRange>;
  readonly onChoose: (agentId: string) => void;
}

export function RejectedAgentsTable({ range, onChoose }: RejectedAgentsTableProps) {
  const query = { ...range, sort: 'rejectedRequests', order: 'desc', limit: ROWS_SHOWN } as const;
  const agents = useQuery({
    queryKey: ['agents', 'refused', query],
    queryFn: () => api.get('/v1/usage/agents', { params: { query } }),
    placeholderData: keepPreviousData,
    refetchInterval: 30_000,
  });
  return (
    <DataTable
      label="Agents with the most rejections"
      query={agents}
      rows={(data) => data.agents.filter(({ rejectedRequests }) => rejectedRequests > 0)}
      rowKey={({ id }) => id}
      columns={[
        {
          header: 'Agent',
          cell: ({ id, name }) => (
            <Anchor
              component="button"
              type="button"
              inherit
              underline="always"
              className="acg-name"
              onClick={() => onChoose(id)}
            >
              {name}
            </Anchor>
          ),
        },
        { header: 'Rejected', numeric: true, cell: ({ rejectedRequests }) => formatCount(rejectedRequests) },
        { header: 'Forwarded', numeric: true, cell: ({ requests }) => formatCount(requests) },
        ...LISTED_RATE_LIMITS.map(({ label, field }) => ({
          header: label.replace('Requests per', 'Per'),
          numeric: true,
          cell: (agent: Pick<Agent, ListedRateLimit['field']>) => formatLimit(agent[field]),
          wideOnly: true,
        })),
        {
          header: 'This month',
          cell: ({ monthCents, budgetCentsMonthly }) => (
            <BudgetBar spentCents={monthCents} budgetCents={budgetCentsMonthly} />
          ),
        },
        {
          header: 'Settings',
          cell: ({ id, name }) => (
            <Group gap="sm" wrap="nowrap">
              <Anchor component={Link} href={`/agents/${id}?tab=limits`} size="sm" aria-label={`Limits of ${name}`}>
                Limits
              </Anchor>
              <Anchor
                component={Link}
                href={`/agents/${id}?tab=providers`}
                size="sm"
                aria-label={`Providers of ${name}`}
              >
                Providers
              </Anchor>
              <Anchor component={Link} href={`/agents/${id}?tab=policy`} size="sm" aria-label={`Policy of ${name}`}>
                Policy
              </Anchor>
            </Group>
          ),
        },
      ]}
      empty={<EmptyState title="No agent had rejections" />}
    />
  );
}

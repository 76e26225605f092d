/** Whose calls were refused, with the limits that are theirs. */
import { RATE_LIMITS, type RateLimit } from '@acg/base/limits';
import { Anchor, Group } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { api } from '../../api/api.js';
import { count, NONE } from '../../format/format.js';
import { BudgetBar } from '../../parts/budget-bar.js';
import { DataTable } from '../../parts/data-table.js';
import { Nothing } from '../../parts/nothing.js';
import type { rangeOf } from '../../parts/range-control.js';
import type { Agent } from '../../resources/agents.js';

const SHOWN = 10;

type Listed = Extract<RateLimit, { inLists: true }>;
const LISTED = RATE_LIMITS.filter((row): row is Listed => row.inLists);
const limit = (value: number | null): string => (value === null ? NONE : count(value));

interface RefusedAgentsProps {
  readonly range: ReturnType<typeof rangeOf>;
  readonly onChoose: (agentId: string) => void;
}

export function RefusedAgents({ range, onChoose }: RefusedAgentsProps) {
  const query = { ...range, sort: 'rejectedRequests', order: 'desc', limit: SHOWN } as const;
  const agents = useQuery({
    queryKey: ['agents', 'refused', query],
    queryFn: () => api.get('/v1/usage/agents', { params: { query } }),
    placeholderData: keepPreviousData,
    refetchInterval: 30_000,
  });
  return (
    <DataTable
      label="Agents refused most"
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
        { header: 'Refused', numeric: true, cell: ({ rejectedRequests }) => count(rejectedRequests) },
        { header: 'Let through', numeric: true, cell: ({ requests }) => count(requests) },
        ...LISTED.map(({ label, field }) => ({
          header: label.replace('Requests per', 'Per'),
          numeric: true,
          cell: (agent: Pick<Agent, Listed['field']>) => limit(agent[field]),
          wideOnly: true,
        })),
        {
          header: 'This month',
          cell: ({ monthCents, budgetCentsMonthly }) => (
            <BudgetBar spentCents={monthCents} budgetCents={budgetCentsMonthly} />
          ),
        },
        {
          header: 'Change',
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
            </Group>
          ),
        },
      ]}
      empty={<Nothing title="No agent was refused" />}
    />
  );
}

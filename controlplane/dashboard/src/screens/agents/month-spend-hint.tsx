/** The spend of the calendar month (UTC), below the field of the monthly budget. Warns about a budget that is used up. */
import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { api } from '../../api/api-client.js';
import { isPlainMonthly } from '../../components/budgets/budget-row.js';
import { formatCents } from '../../format/format.js';
import type { Agent } from '../../resources/agent-account-and-key-hooks.js';

interface MonthSpendHintProps {
  readonly agent: Agent;
  /** The budget in the field. Null: none. */
  readonly budgetCents: number | null;
}

export function MonthSpendHint({ agent, budgetCents }: MonthSpendHintProps) {
  const month = useQuery({
    queryKey: ['agents', 'month of limits', agent.id],
    queryFn: () => api.get('/v1/usage/agents', { params: { query: { search: agent.id, limit: 1 } } }),
    refetchInterval: 30_000,
  });
  const spentCents = month.data?.agents[0]?.monthCents;
  if (spentCents === undefined) return null;
  const isCountedOnly = agent.budgets.find(isPlainMonthly)?.mode === 'audit';
  return (
    <>
      Spent this month (UTC): {formatCents(spentCents)}.
      {budgetCents !== null && budgetCents <= spentCents && !isCountedOnly && (
        <Text span inherit display="block" c="var(--acg-warning)">
          This budget is used up: with it, calls are rejected until the end of the month.
        </Text>
      )}
    </>
  );
}

/** The spend of the calendar month (UTC), below the field of the monthly budget. Warns about a budget that is used up. */
import { Text } from '@mantine/core';
import { isPlainMonthly } from '../../components/budgets/budget-row.js';
import { formatCents } from '../../format/format.js';
import type { Agent } from '../../resources/agent-account-and-key-hooks.js';
import { useAgentMonth } from './use-agent-month.js';

interface MonthSpendHintProps {
  readonly agent: Agent;
  /** The budget in the field. Null: none. */
  readonly budgetCents: number | null;
}

export function MonthSpendHint({ agent, budgetCents }: MonthSpendHintProps) {
  const spentCents = useAgentMonth(agent.id).data?.monthCents;
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

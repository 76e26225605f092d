/** What is used of a monthly budget; the words say it as well as the bar. */
import { Progress, Text } from '@mantine/core';
import { formatCents, formatPercent as percentText } from '../../format/format.js';

const WARN_PERCENT = 80;
const FULL_PERCENT = 100;

interface BudgetBarProps {
  readonly spentCents: number;
  /** Null: none. */
  readonly budgetCents: number | null;
  /** What is spent stands beside it. */
  readonly isCompact?: boolean;
}

export function BudgetBar({ spentCents, budgetCents, isCompact: short = false }: BudgetBarProps) {
  if (budgetCents === null) {
    return (
      <Text size="sm" c="dimmed" span>
        no budget
      </Text>
    );
  }
  const percent = budgetCents === 0 ? FULL_PERCENT : (spentCents / budgetCents) * 100;
  const color = percent >= FULL_PERCENT ? 'red' : percent >= WARN_PERCENT ? 'yellow' : 'indigo';
  const text = short
    ? `${percentText(percent)} of ${formatCents(budgetCents)}`
    : `${formatCents(spentCents)} of ${formatCents(budgetCents)}, ${percentText(percent)}`;
  return (
    <div>
      <Text size="sm" className="acg-numbers acg-budget">
        {text}
      </Text>
      <Progress value={Math.min(percent, FULL_PERCENT)} color={color} size="xs" mt={4} miw={120} aria-label={text} />
    </div>
  );
}

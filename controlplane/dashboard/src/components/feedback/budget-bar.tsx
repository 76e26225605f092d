/** Spend against a monthly budget, as text and as a bar. */
import { Progress } from '@mantine/core';
import { formatCents, formatPercent as percentText } from '../../format/format.js';

const WARN_PERCENT = 80;
const FULL_PERCENT = 100;

interface BudgetBarProps {
  readonly spentCents: number;
  /** Null: no budget. */
  readonly budgetCents: number | null;
  /** Omits the spent amount, which is shown beside the bar. */
  readonly isCompact?: boolean;
}

export function BudgetBar({ spentCents, budgetCents, isCompact = false }: BudgetBarProps) {
  if (budgetCents === null) {
    return <span className="acg-budget acg-no-value">No budget</span>;
  }
  const percent = budgetCents === 0 ? FULL_PERCENT : roundBelowFull((spentCents / budgetCents) * 100);
  const color = percent >= FULL_PERCENT ? 'red' : percent >= WARN_PERCENT ? 'yellow' : 'indigo';
  const text = isCompact
    ? `${percentText(percent)} of ${formatCents(budgetCents)}`
    : `${formatCents(spentCents)} of ${formatCents(budgetCents)}, ${percentText(percent)}`;
  return (
    <div>
      <div className="acg-tabular-numbers acg-budget">{text}</div>
      <Progress value={Math.min(percent, FULL_PERCENT)} color={color} size="xs" mt={4} miw={120} aria-label={text} />
    </div>
  );
}

/** Rounds down, so that 99.96 % does not look like a used-up budget. */
const roundBelowFull = (percent: number): number => Math.floor(percent * 10) / 10;

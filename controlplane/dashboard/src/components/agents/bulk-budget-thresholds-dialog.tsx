/** Sets the same budget thresholds for several agents. */
import { Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { formatAgentCount, formatUsd } from '../../format/format.js';
import { BudgetThresholdInput, validateThresholds } from '../forms/budget-threshold-input.js';
import { BulkActionDialog } from './bulk-action-dialog.js';

const CENTS = 100;

interface AgentThresholds {
  readonly id: string;
  readonly name: string;
  readonly usageThresholds: readonly number[];
  readonly budgetCentsMonthly: number | null;
}

interface BulkBudgetThresholdsDialogProps {
  readonly agents: readonly AgentThresholds[];
  readonly save: (id: string, percents: number[]) => Promise<unknown>;
  readonly onDone: () => void;
  readonly onClose: () => void;
}

export function BulkBudgetThresholdsDialog({ agents, save, onDone, onClose }: BulkBudgetThresholdsDialogProps) {
  const [percents, setPercents] = useState<string[]>(() => commonThresholds(agents));
  const error = validateThresholds(percents);
  const wanted = percents.map(Number).sort((a, b) => a - b);
  return (
    <BulkActionDialog
      title={`Budget thresholds for ${formatAgentCount(agents.length)}`}
      items={agents}
      action={(count) => `Set for ${formatAgentCount(count)}`}
      doneLabel="set"
      currentState={(agent) => describeCurrentThresholds(agent)}
      run={({ id }) => save(id, wanted)}
      onDone={onDone}
      onClose={onClose}
      isValid={error === null}
    >
      <Stack gap="md">
        <Text size="sm">
          Creates an alert when an agent’s spend this month reaches one of these percentages of its budget, once a month
          each. Alerts go to the Alerts page, webhooks and e-mail recipients. Replaces the current thresholds.
        </Text>
        <BudgetThresholdInput
          label="Percentages of the monthly budget"
          value={percents}
          onChange={setPercents}
          error={error}
        />
      </Stack>
    </BulkActionDialog>
  );
}

function describeCurrentThresholds({ usageThresholds, budgetCentsMonthly }: AgentThresholds): string {
  const percents =
    usageThresholds.length === 0 ? 'no thresholds' : `now ${usageThresholds.map((n) => `${n}%`).join(', ')}`;
  return budgetCentsMonthly === null
    ? `${percents}; no budget`
    : `${percents} of ${formatUsd(budgetCentsMonthly / CENTS)}`;
}

/** The thresholds that all agents share; empty if they differ. */
function commonThresholds(agents: readonly AgentThresholds[]): string[] {
  const [first = '', ...others] = agents.map(({ usageThresholds }) => usageThresholds.join());
  return first === '' || others.some((one) => one !== first) ? [] : first.split(',');
}

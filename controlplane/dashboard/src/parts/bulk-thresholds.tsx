/** One set of thresholds for several agents. */
import { Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { usd } from '../format/format.js';
import { BulkDialog } from './bulk-dialog.js';
import { ThresholdInput, thresholdsProblem } from './threshold-input.js';

const CENTS = 100;

interface WarnedAgent {
  readonly id: string;
  readonly name: string;
  readonly usageThresholds: readonly number[];
  readonly budgetCentsMonthly: number | null;
}

interface BulkThresholdsProps {
  readonly agents: readonly WarnedAgent[];
  readonly save: (id: string, percents: number[]) => Promise<unknown>;
  readonly onDone: () => void;
  readonly onClose: () => void;
}

export function BulkThresholds({ agents, save, onDone, onClose }: BulkThresholdsProps) {
  const [percents, setPercents] = useState<string[]>(() => common(agents));
  const problem = thresholdsProblem(percents);
  const wanted = percents.map(Number).sort((a, b) => a - b);
  const of = (count: number) => (count === 1 ? '1 agent' : `${count} agents`);
  return (
    <BulkDialog
      title={`Budget thresholds of ${of(agents.length)}`}
      things={agents}
      action={(count) => `Set for ${of(count)}`}
      done="set"
      now={(agent) => nowText(agent)}
      act={({ id }) => save(id, wanted)}
      onDone={onDone}
      onClose={onClose}
      ready={problem === null}
    >
      <Stack gap="md">
        <Text size="sm">
          When an agent’s spend of the month reaches such a part of its budget, that stands under Alerts, goes to
          webhooks and to those who get mail about it; once a month each. This replaces what they have now.
        </Text>
        <ThresholdInput
          label="Percents of the monthly budget"
          value={percents}
          onChange={setPercents}
          error={problem}
        />
      </Stack>
    </BulkDialog>
  );
}

function nowText({ usageThresholds, budgetCentsMonthly }: WarnedAgent): string {
  const percents =
    usageThresholds.length === 0 ? 'nobody is told' : `now at ${usageThresholds.map((n) => `${n}%`).join(', ')}`;
  return budgetCentsMonthly === null
    ? `${percents}; has no budget`
    : `${percents} of ${usd(budgetCentsMonthly / CENTS)}`;
}

/** What all of them have; empty where they differ. */
function common(agents: readonly WarnedAgent[]): string[] {
  const [first = '', ...others] = agents.map(({ usageThresholds }) => usageThresholds.join());
  return first === '' || others.some((one) => one !== first) ? [] : first.split(',');
}

/** Columns of the lists of runs. */
import { Anchor, Group, Text } from '@mantine/core';
import { Link } from 'wouter';
import { BudgetBar } from '../../components/feedback/budget-bar.js';
import { RelativeTime } from '../../components/feedback/relative-time.js';
import { StatusBadge } from '../../components/feedback/status-badge.js';
import type { Column } from '../../components/tables/data-table.js';
import { RowActionButton } from '../../components/tables/row-action-button.js';
import { CENTS_PER_USD, formatCount } from '../../format/format.js';
import { describeRunState, formatSubRuns, type Run, runName } from './fetch-runs.js';

interface RunActions {
  readonly onEnd: (run: Run) => void;
  /** Indents sub-runs by their level. */
  readonly isTree?: boolean;
}

const INDENT_PX = 16;

export const runColumns = ({ onEnd, isTree = false }: RunActions): readonly Column<Run>[] => [
  {
    header: 'Run',
    sortKey: 'label',
    cell: (run) => (
      <Text
        size="sm"
        fw={500}
        span
        display="block"
        className="acg-break-anywhere"
        pl={isTree ? (run.depth - 1) * INDENT_PX : 0}
      >
        {runName(run)}
      </Text>
    ),
  },
  {
    header: 'Agent',
    sortKey: 'agentName',
    cell: ({ agentId, agentName }) => (
      <Anchor component={Link} href={`/agents/${agentId}`} inherit underline="always" className="acg-name">
        {agentName}
      </Anchor>
    ),
  },
  {
    header: 'Status',
    isBesideTitle: true,
    cell: (run) => {
      const { tone, text } = describeRunState(run);
      return <StatusBadge tone={tone}>{text}</StatusBadge>;
    },
  },
  {
    header: 'Spend',
    sortKey: 'spentCents',
    cell: ({ spentUsd, budgetCents }) => <BudgetBar spentCents={spentUsd * CENTS_PER_USD} budgetCents={budgetCents} />,
  },
  {
    header: 'Calls',
    numeric: true,
    sortKey: 'calls',
    cell: (run) =>
      run.calls === 0 ? (
        '0'
      ) : (
        <Anchor
          component={Link}
          href={`/calls?run=${run.id}&live=off`}
          inherit
          underline="always"
          aria-label={`${formatCount(run.calls)} calls of ${runName(run)}`}
        >
          {formatCount(run.calls)}
        </Anchor>
      ),
  },
  { header: 'Sub-runs', numeric: true, wideOnly: true, cell: ({ subRuns }) => formatSubRuns(subRuns) },
  {
    header: 'Ends',
    sortKey: 'end',
    cell: ({ endedAt, expiresAt }) => <RelativeTime at={endedAt ?? expiresAt} />,
  },
  {
    header: 'Actions',
    cell: (run) =>
      run.state === 'running' && (
        <Group justify="flex-end">
          <RowActionButton
            requiredRole="admin"
            label="End"
            rowName={runName(run)}
            isDestructive
            onClick={() => onEnd(run)}
          />
        </Group>
      ),
  },
];

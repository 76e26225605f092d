/** The page of a run: its whole tree with spend and state. */
import { Anchor, Button, Text } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useParams } from 'wouter';
import { CopyButton } from '../../components/buttons/copy-button.js';
import { EmptyState } from '../../components/feedback/empty-state.js';
import { PageHeader } from '../../components/layout/page-header.js';
import { DataTable } from '../../components/tables/data-table.js';
import { formatCents, formatCount } from '../../format/format.js';
import { EndRunDialog } from './end-run-dialog.js';
import { fetchTree, type Run, runName } from './fetch-runs.js';
import { runColumns } from './run-columns.js';

const REFRESH_MS = 3_000;

export function RunTreePage() {
  const { id } = useParams<{ id: string }>();
  const [ending, setEnding] = useState<Run | null>(null);
  const tree = useQuery({
    queryKey: ['runs', 'tree', id],
    queryFn: () => fetchTree(id),
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
  });
  const run = tree.data?.run;
  const hidden = (tree.data?.total ?? 0) - (tree.data?.runs.length ?? 0);
  return (
    <>
      <PageHeader
        title={run === undefined ? 'Run' : runName(run)}
        description={
          run !== undefined && (
            <>
              {formatCents(run.spentCents)} of {formatCents(run.budgetCents)} spent in {formatCount(run.calls)} calls.{' '}
              <Anchor component={Link} href="/runs" inherit underline="always">
                All runs
              </Anchor>
            </>
          )
        }
        actions={
          <>
            <Button component={Link} href={`/calls?run=${id}&live=off`} variant="default">
              Calls of this run
            </Button>
            <CopyButton value={id} label="Copy run id" />
          </>
        }
      />
      <DataTable
        label="Runs of the tree"
        query={tree}
        rows={({ runs }) => runs}
        rowKey={(row) => row.id}
        href={(row) => `/runs/${row.id}`}
        columns={runColumns({ onEnd: setEnding, isTree: true })}
        empty={<EmptyState title="No such run" text="It may have been deleted: ended runs are kept for 30 days." />}
      />
      {hidden > 0 && (
        <Text size="sm" c="dimmed" mt="sm">
          {formatCount(hidden)} older sub-runs are not shown.
        </Text>
      )}
      {ending !== null && <EndRunDialog run={ending} onClose={() => setEnding(null)} />}
    </>
  );
}

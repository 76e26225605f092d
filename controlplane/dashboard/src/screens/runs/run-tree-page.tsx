/** The page of a run: its whole tree with spend and state, or its own sub-runs where the tree is large. */
import { Anchor, Button } from '@mantine/core';
import { keepPreviousData } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useParams } from 'wouter';
import { useQuery } from '../../api/use-query.js';
import { CopyButton } from '../../components/buttons/copy-button.js';
import { RoleGuardedButton } from '../../components/buttons/role-guarded-button.js';
import { EmptyState } from '../../components/feedback/empty-state.js';
import { PageHeader } from '../../components/layout/page-header.js';
import { DataTable } from '../../components/tables/data-table.js';
import { formatCents, formatCount, formatUsd } from '../../format/format.js';
import { useUrlState } from '../../hooks/use-url-state.js';
import { EndRunDialog } from './end-run-dialog.js';
import { fetchTree, PAGE_SIZE, type Run, runName } from './fetch-runs.js';
import { runColumns } from './run-columns.js';

const REFRESH_MS = 3_000;
const FIRST_PAGE = { page: 1 };

export function RunTreePage() {
  const { id } = useParams<{ id: string }>();
  const { values, set } = useUrlState(FIRST_PAGE);
  const [ending, setEnding] = useState<Run | null>(null);
  const tree = useQuery({
    queryKey: ['runs', 'tree', id, values.page],
    queryFn: () => fetchTree(id, values.page),
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
  });
  const run = tree.data?.run;
  const isWhole = tree.data?.subRuns === null;
  const paging = ({ subRuns }: { readonly subRuns: number | null }) => ({
    page: values.page,
    pageSize: PAGE_SIZE,
    total: subRuns ?? 0,
    onPage: (page: number) => set({ page }),
  });
  return (
    <>
      <PageHeader
        title={run === undefined ? 'Run' : runName(run)}
        description={
          run !== undefined && (
            <>
              {formatUsd(run.spentUsd)} of {formatCents(run.budgetCents)} spent in {formatCount(run.calls)} calls.{' '}
              {run.parentId !== null && (
                <>
                  <Anchor component={Link} href={`/runs/${run.parentId}`} inherit underline="always">
                    Parent run
                  </Anchor>{' '}
                </>
              )}
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
            {run?.state === 'running' && (
              <RoleGuardedButton requiredRole="admin" color="red" variant="light" onClick={() => setEnding(run)}>
                End this run
              </RoleGuardedButton>
            )}
          </>
        }
      />
      <DataTable
        label={isWhole ? 'Runs of the tree' : 'Sub-runs'}
        query={tree}
        rows={({ runs }) => runs}
        rowKey={(row) => row.id}
        href={(row) => `/runs/${row.id}`}
        columns={runColumns({ onEnd: setEnding, isTree: isWhole })}
        {...(isWhole ? {} : { paging })}
        empty={<EmptyState title="No such run" text="It may have been deleted: ended runs are kept for 30 days." />}
      />
      {ending !== null && <EndRunDialog run={ending} onClose={() => setEnding(null)} />}
    </>
  );
}

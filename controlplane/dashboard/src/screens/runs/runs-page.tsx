/** The Runs page: top runs with their spend against the budget. */
import { Code, NativeSelect, Stack, Text } from '@mantine/core';
import { keepPreviousData } from '@tanstack/react-query';
import { Plus } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { useFormDraft } from '../../api/form-drafts-across-sign-in.js';
import { useQuery } from '../../api/use-query.js';
import { RoleGuardedButton } from '../../components/buttons/role-guarded-button.js';
import { EmptyState } from '../../components/feedback/empty-state.js';
import { AgentSelect } from '../../components/forms/agent-select.js';
import { FilterBar } from '../../components/forms/filter-bar.js';
import { SearchInput } from '../../components/forms/search-input.js';
import { PageHeader } from '../../components/layout/page-header.js';
import { SecretDialog } from '../../components/secrets/secret-dialog.js';
import { DataTable } from '../../components/tables/data-table.js';
import { useUrlSorting } from '../../hooks/use-url-sorting.js';
import { useUrlState } from '../../hooks/use-url-state.js';
import { EndRunDialog } from './end-run-dialog.js';
import { DEFAULT_RUN_FILTERS, fetchRuns, PAGE_SIZE, RUN_SORTS, RUN_STATES, type Run } from './fetch-runs.js';
import { runColumns } from './run-columns.js';

const NewRunDialog = lazy(async () => ({ default: (await import('./new-run-dialog.js')).NewRunDialog }));
const REFRESH_MS = 5_000;

export function RunsPage() {
  const { values, set, clear, isFiltered } = useUrlState(DEFAULT_RUN_FILTERS);
  const [isNewOpen, setIsNewOpen] = useFormDraft('new run', false);
  const [secret, setSecret] = useState<string | null>(null);
  const [ending, setEnding] = useState<Run | null>(null);
  const { query, sorting } = useUrlSorting(RUN_SORTS);
  const runs = useQuery({
    queryKey: ['runs', 'top', values, query],
    queryFn: () => fetchRuns({ ...values, ...query }),
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
  });
  const button = (
    <RoleGuardedButton
      requiredRole="admin"
      leftSection={<Plus size={16} aria-hidden />}
      onClick={() => setIsNewOpen(true)}
    >
      New run
    </RoleGuardedButton>
  );
  return (
    <>
      <PageHeader
        title="Runs"
        description="A run is a task with a hard budget and an end. It has a gateway token of its own, and its sub-runs spend from it."
        actions={button}
      />
      <FilterBar isFiltered={isFiltered}>
        <SearchInput
          label="Search runs"
          placeholder="Label"
          value={values.search}
          onChange={(search) => set({ search }, { replace: true })}
        />
        <AgentSelect
          aria-label="Agent"
          placeholder="All agents"
          value={values.agent}
          onChange={(agent) => set({ agent })}
        />
        <NativeSelect
          aria-label="Status"
          data={[{ value: '', label: 'Any status' }, ...RUN_STATES]}
          value={values.state}
          onChange={(event) => set({ state: event.currentTarget.value })}
        />
      </FilterBar>
      <DataTable
        label="Runs"
        query={runs}
        rows={(data) => data.runs}
        rowKey={({ id }) => id}
        href={({ id }) => `/runs/${id}`}
        sorting={sorting}
        filtered={isFiltered}
        onClearFilters={clear}
        paging={({ total }) => ({ page: values.page, pageSize: PAGE_SIZE, total, onPage: (page) => set({ page }) })}
        columns={runColumns({ onEnd: setEnding })}
        empty={
          <EmptyState
            title="No runs yet"
            text="Start one here, with acg run --budget, or from an agent: POST /v1/runs at the gateway."
            action={button}
          />
        }
      />
      <Suspense>
        {isNewOpen && (
          <NewRunDialog
            onClose={() => setIsNewOpen(false)}
            onStarted={(text) => {
              setIsNewOpen(false);
              setSecret(text);
            }}
          />
        )}
      </Suspense>
      <SecretDialog title="New run" secret={secret} onStored={() => setSecret(null)}>
        <Stack gap="sm">
          <Text size="sm">
            Use this gateway token for the calls of the run. With it, a program starts sub-runs:{' '}
            <Code>POST /v1/runs</Code> at the gateway.
          </Text>
        </Stack>
      </SecretDialog>
      {ending !== null && <EndRunDialog run={ending} onClose={() => setEnding(null)} />}
    </>
  );
}

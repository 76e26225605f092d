/** Projects: groups of agents with a budget of their own. */
import { Group } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/api.js';
import { useDraft } from '../../api/drafts.js';
import { queryClient } from '../../api/query-client.js';
import { cents } from '../../format/format.js';
import { Ago } from '../../parts/ago.js';
import { BudgetBar } from '../../parts/budget-bar.js';
import { Confirm } from '../../parts/confirm.js';
import { DataTable } from '../../parts/data-table.js';
import { GuardedButton } from '../../parts/guarded-button.js';
import { Nothing } from '../../parts/nothing.js';
import { PageHeader } from '../../parts/page-header.js';
import { RowButton } from '../../parts/row-button.js';
import { useSearchState } from '../../parts/search-state.js';
import { toast } from '../../parts/toast.js';
import { ProjectDialog } from './project-dialog.js';

const DEFAULTS = { page: 1 };
const PAGE_SIZE = 50;
const SPEND_ROWS = 100;
const CENTS = 100;
const MONTH_CHARS = 7;

/** Months are of UTC, as budgets are. */
const monthStart = (): string => `${new Date().toISOString().slice(0, MONTH_CHARS)}-01`;

type Project = Awaited<ReturnType<typeof readProjects>>['projects'][number];

const readProjects = (page: number) =>
  api.get('/v1/projects', { params: { query: { limit: PAGE_SIZE, offset: (page - 1) * PAGE_SIZE } } });

const refresh = (): void => void queryClient.invalidateQueries({ queryKey: ['projects'] });

export function Projects() {
  const { values, set } = useSearchState(DEFAULTS);
  const [edited, setEdited] = useDraft<Project | 'new' | null>('project', null);
  const [doomed, setDoomed] = useState<Project | null>(null);
  const projects = useQuery({ queryKey: ['projects', values.page], queryFn: () => readProjects(values.page) });
  const query = { by: 'project', start: monthStart(), limit: SPEND_ROWS } as const;
  const spend = useQuery({
    queryKey: ['usage', 'breakdown', query],
    queryFn: () => api.get('/v1/usage/breakdown', { params: { query } }),
  });
  const remove = useMutation({
    mutationFn: ({ id }: Project) => api.delete('/v1/projects/{id}', { params: { path: { id } } }),
    onSuccess: (_, { name }) => {
      refresh();
      setDoomed(null);
      toast(`${name} is deleted`);
    },
  });
  const spentCents = (id: string): number | null =>
    spend.data === undefined ? null : (spend.data.rows.find(({ value }) => value === id)?.costUsd ?? 0) * CENTS;
  return (
    <>
      <PageHeader
        title="Projects"
        description="A project groups agents; its budget holds for all of them together."
        actions={
          <GuardedButton needs="admin" onClick={() => setEdited('new')}>
            New project
          </GuardedButton>
        }
      />
      <DataTable
        label="Projects"
        query={projects}
        rows={(data) => data.projects}
        rowKey={({ id }) => id}
        paging={({ total }) => ({ page: values.page, pageSize: PAGE_SIZE, total, onPage: (page) => set({ page }) })}
        empty={<Nothing title="No projects yet" text="Make one to group agents under a budget." />}
        columns={[
          { header: 'Project', cell: ({ name }) => name },
          { header: 'Slug', cell: ({ slug }) => slug, wideOnly: true },
          { header: 'This month', numeric: true, cell: ({ id }) => cents(spentCents(id)) },
          {
            header: 'Budget a month',
            cell: ({ id, budgetCentsMonthly }) => (
              <BudgetBar spentCents={spentCents(id) ?? 0} budgetCents={budgetCentsMonthly} />
            ),
          },
          { header: 'Made', cell: ({ createdAt }) => <Ago at={createdAt} /> },
          {
            header: 'Actions',
            cell: (project) => (
              <Group gap="xs" wrap="nowrap" justify="flex-end">
                <RowButton needs="admin" verb="Edit" of={project.name} onClick={() => setEdited(project)} />
                <RowButton
                  needs="admin"
                  verb="Delete"
                  of={project.name}
                  grave
                  onClick={() => {
                    remove.reset();
                    setDoomed(project);
                  }}
                />
              </Group>
            ),
          },
        ]}
      />
      {edited !== null && (
        <ProjectDialog
          project={edited === 'new' ? null : edited}
          onClose={() => setEdited(null)}
          onSaved={(name) => {
            refresh();
            setEdited(null);
            toast(`${name} is saved`);
          }}
        />
      )}
      {doomed !== null && (
        <Confirm
          opened
          onClose={() => setDoomed(null)}
          title="Delete project"
          action="Delete project"
          typed={doomed.name}
          onConfirm={() => remove.mutate(doomed)}
          pending={remove.isPending}
          error={remove.error}
        >
          Only a project without agents can be deleted. What its agents have spent stays in the organization’s usage.
        </Confirm>
      )}
    </>
  );
}

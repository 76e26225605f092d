/** The Projects page: groups of agents with a shared budget. */
import { Group } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/api-client.js';
import { useFormDraft } from '../../api/form-drafts-across-sign-in.js';
import { queryClient } from '../../api/query-client.js';
import { useQuery } from '../../api/use-query.js';
import { RoleGuardedButton } from '../../components/buttons/role-guarded-button.js';
import { BudgetBar } from '../../components/feedback/budget-bar.js';
import { EmptyState } from '../../components/feedback/empty-state.js';
import { RelativeTime } from '../../components/feedback/relative-time.js';
import { showToast } from '../../components/feedback/toast.js';
import { ConfirmDialog } from '../../components/forms/confirm-dialog.js';
import { lazyComponent } from '../../components/layout/lazy-component-no-suspense-delay.js';
import { PageHeader } from '../../components/layout/page-header.js';
import { DataTable } from '../../components/tables/data-table.js';
import { RowActionButton } from '../../components/tables/row-action-button.js';
import { formatCents } from '../../format/format.js';
import { useUrlState } from '../../hooks/use-url-state.js';
import { ProjectDialog } from './project-dialog.js';

const ProjectBudgetsDialog = lazyComponent(
  async () => (await import('./project-budgets-dialog.js')).ProjectBudgetsDialog,
  null,
);

const DEFAULTS = { sort: 'createdAt', order: 'desc', page: 1 };
const PAGE_SIZE = 50;
const SPEND_ROWS = 100;
const CENTS = 100;
const MONTH_CHARS = 7;

/** First day of the month in UTC, like budgets. */
const monthStart = (): string => `${new Date().toISOString().slice(0, MONTH_CHARS)}-01`;

type Project = Awaited<ReturnType<typeof fetchProjects>>['projects'][number];

const fetchProjects = ({ sort, order, page }: { sort: string; order: string; page: number }) =>
  api.get('/v1/projects', {
    params: {
      query: {
        limit: PAGE_SIZE,
        offset: (page - 1) * PAGE_SIZE,
        sort: sort === 'name' ? 'name' : 'createdAt',
        order: order === 'asc' ? 'asc' : 'desc',
      },
    },
  });

const refreshProjects = (): void => void queryClient.invalidateQueries({ queryKey: ['projects'] });

export function ProjectsPage() {
  const { values, set } = useUrlState(DEFAULTS);
  const [edited, setEdited] = useFormDraft<Project | 'new' | null>('project', null);
  const [budgeted, setBudgeted] = useState<Project | null>(null);
  const [toDelete, setToDelete] = useState<Project | null>(null);
  const projects = useQuery({ queryKey: ['projects', values], queryFn: () => fetchProjects(values) });
  const query = { by: 'project', start: monthStart(), limit: SPEND_ROWS } as const;
  const spend = useQuery({
    queryKey: ['usage', 'breakdown', query],
    queryFn: () => api.get('/v1/usage/breakdown', { params: { query } }),
  });
  const deleteProject = useMutation({
    mutationFn: ({ id }: Project) => api.delete('/v1/projects/{id}', { params: { path: { id } } }),
    onSuccess: (_, { name }) => {
      refreshProjects();
      setToDelete(null);
      showToast(`${name} deleted`);
    },
  });
  const spentCents = (id: string): number | null =>
    spend.data === undefined ? null : (spend.data.rows.find(({ value }) => value === id)?.costUsd ?? 0) * CENTS;
  return (
    <>
      <PageHeader
        title="Projects"
        description="A project groups agents that share a budget."
        actions={
          <RoleGuardedButton requiredRole="admin" onClick={() => setEdited('new')}>
            New project
          </RoleGuardedButton>
        }
      />
      <DataTable
        label="Projects"
        sorting={{
          sort: values.sort,
          order: values.order === 'asc' ? 'asc' : 'desc',
          onSort: (sort, order) => set({ sort, order }),
        }}
        query={projects}
        rows={(data) => data.projects}
        rowKey={({ id }) => id}
        href={({ id }) => `/projects/${id}`}
        paging={({ total }) => ({ page: values.page, pageSize: PAGE_SIZE, total, onPage: (page) => set({ page }) })}
        empty={<EmptyState title="No projects yet" text="Create one to group agents under a budget." />}
        columns={[
          { header: 'Project', sortKey: 'name', cell: ({ name }) => name },
          { header: 'Slug', cell: ({ slug }) => slug, wideOnly: true },
          { header: 'This month', numeric: true, cell: ({ id }) => formatCents(spentCents(id)) },
          {
            header: 'Monthly budget',
            cell: ({ id, budgetCentsMonthly }) => (
              <BudgetBar spentCents={spentCents(id) ?? 0} budgetCents={budgetCentsMonthly} />
            ),
          },
          { header: 'Created', sortKey: 'createdAt', cell: ({ createdAt }) => <RelativeTime at={createdAt} /> },
          {
            header: 'Actions',
            cell: (project) => (
              <Group gap="xs" wrap="nowrap" justify="flex-end">
                <RowActionButton
                  requiredRole="viewer"
                  label="Budgets"
                  rowName={project.name}
                  onClick={() => setBudgeted(project)}
                />
                <RowActionButton
                  requiredRole="admin"
                  label="Edit"
                  rowName={project.name}
                  onClick={() => setEdited(project)}
                />
                <RowActionButton
                  requiredRole="admin"
                  label="Delete"
                  rowName={project.name}
                  isDestructive
                  onClick={() => {
                    deleteProject.reset();
                    setToDelete(project);
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
            refreshProjects();
            setEdited(null);
            showToast(`${name} saved`);
          }}
        />
      )}
      {budgeted !== null && <ProjectBudgetsDialog project={budgeted} onClose={() => setBudgeted(null)} />}
      {toDelete !== null && (
        <ConfirmDialog
          opened
          onClose={() => setToDelete(null)}
          title="Delete project"
          action="Delete project"
          onConfirm={() => deleteProject.mutate(toDelete)}
          pending={deleteProject.isPending}
          error={deleteProject.error}
        >
          The project <b>{toDelete.name}</b> can be deleted only without agents. The spend of its agents stays in the
          organization’s usage.
        </ConfirmDialog>
      )}
    </>
  );
}

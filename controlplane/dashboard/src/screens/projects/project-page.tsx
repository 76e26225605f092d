/** The page of a project: its budget, agents, usage, tokens and last calls. */
import { Anchor, Group, Skeleton, Stack } from '@mantine/core';
import { useState } from 'react';
import { Link, useParams } from 'wouter';
import { api } from '../../api/api-client.js';
import { useFormDraft } from '../../api/form-drafts-across-sign-in.js';
import { queryClient } from '../../api/query-client.js';
import { useMissingRoleReason } from '../../api/session.js';
import { useQuery } from '../../api/use-query.js';
import { InlineCopy } from '../../components/buttons/inline-copy.js';
import { RoleGuardedButton } from '../../components/buttons/role-guarded-button.js';
import { BudgetBar } from '../../components/feedback/budget-bar.js';
import { ErrorAlert } from '../../components/feedback/error-alert.js';
import { LoadedValue } from '../../components/feedback/loaded-value.js';
import { RelativeTime } from '../../components/feedback/relative-time.js';
import { showToast } from '../../components/feedback/toast.js';
import { Facts } from '../../components/layout/facts.js';
import { lazyComponent } from '../../components/layout/lazy-component-no-suspense-delay.js';
import { PageHeader } from '../../components/layout/page-header.js';
import { PageLink } from '../../components/layout/page-link.js';
import { RecentCalls } from '../../components/reports/recent-calls.js';
import { UsageSection } from '../../components/reports/usage-section.js';
import { formatCents } from '../../format/format.js';
import { type Project, useProject } from './use-project.js';

const ProjectDialog = lazyComponent(async () => (await import('./project-dialog.js')).ProjectDialog, null);
const ProjectBudgetsDialog = lazyComponent(
  async () => (await import('./project-budgets-dialog.js')).ProjectBudgetsDialog,
  null,
);

export function ProjectPage() {
  const { id = '' } = useParams();
  const project = useProject(id);
  return (
    <>
      <Anchor component={Link} href="/projects" size="sm">
        All projects
      </Anchor>
      {project.data !== undefined && <ProjectDetails key={id} project={project.data} />}
      {project.data === undefined && project.error === null && <Skeleton h={320} />}
      {project.data === undefined && project.error !== null && (
        <>
          <PageHeader title="Project" />
          <ErrorAlert error={project.error} onRetry={project.refetch} />
        </>
      )}
    </>
  );
}

function ProjectDetails({ project }: { readonly project: Project }) {
  const { id, name, slug, createdAt, budgetCentsMonthly } = project;
  const [isEditOpen, setIsEditOpen] = useFormDraft(`project page ${id}`, false);
  const [isBudgetsOpen, setIsBudgetsOpen] = useState(false);
  const mayReadAudit = useMissingRoleReason('admin') === null;
  const month = useQuery({
    queryKey: ['usage', 'summary', { projectId: id, period: '24h' }],
    queryFn: () => api.get('/v1/usage/summary', { params: { query: { projectId: id, period: '24h' } } }),
  });
  return (
    <>
      <PageHeader
        title={name}
        actions={
          <Group gap="sm">
            <RoleGuardedButton requiredRole="viewer" variant="default" onClick={() => setIsBudgetsOpen(true)}>
              Budgets
            </RoleGuardedButton>
            <RoleGuardedButton requiredRole="admin" variant="default" onClick={() => setIsEditOpen(true)}>
              Edit
            </RoleGuardedButton>
          </Group>
        }
      />
      <Facts
        label="About this project"
        facts={[
          {
            label: 'This month',
            value: (
              <LoadedValue query={month}>
                {({ monthCents }) =>
                  budgetCentsMonthly === null ? (
                    formatCents(monthCents)
                  ) : (
                    <BudgetBar spentCents={monthCents} budgetCents={budgetCentsMonthly} />
                  )
                }
              </LoadedValue>
            ),
          },
          { label: 'Slug', value: <InlineCopy value={slug} what="slug" /> },
          { label: 'Id', value: <InlineCopy value={id} what="project id" /> },
          { label: 'Created', value: <RelativeTime at={createdAt} /> },
          { label: 'Agents', value: <PageLink href={`/agents?project=${id}`}>All agents</PageLink> },
          { label: 'Gateway tokens', value: <PageLink href={`/keys?project=${id}`}>All tokens</PageLink> },
          { label: 'Providers', value: <PageLink href={`/providers?project=${id}`}>All accounts</PageLink> },
          ...(mayReadAudit
            ? [{ label: 'History', value: <PageLink href={`/audit?target=${id}`}>Audit entries</PageLink> }]
            : []),
        ]}
      />
      <Stack gap="xl">
        <UsageSection scope={{ projectId: id }} by={['agent', 'model', 'key']} budgets={project.budgets} />
        <RecentCalls scope={{ projectId: id }} />
      </Stack>
      {isEditOpen && (
        <ProjectDialog
          project={project}
          onClose={() => setIsEditOpen(false)}
          onSaved={(saved) => {
            void queryClient.invalidateQueries({ queryKey: ['projects'] });
            setIsEditOpen(false);
            showToast(`${saved} saved`);
          }}
        />
      )}
      {isBudgetsOpen && <ProjectBudgetsDialog project={project} onClose={() => setIsBudgetsOpen(false)} />}
    </>
  );
}

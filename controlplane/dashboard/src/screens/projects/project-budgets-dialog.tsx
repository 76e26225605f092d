/** Budgets per day, week, month and in total of a project, defaults for its new agents, and agents of members. */
import { Modal, Skeleton, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { api } from '../../api/api-client.js';
import { queryClient } from '../../api/query-client.js';
import { type AgentDefaults, AgentDefaultsForm } from '../../components/budgets/agent-defaults-form.js';
import type { BudgetRowInput } from '../../components/budgets/budget-row.js';
import { BudgetRowsSection } from '../../components/budgets/budget-rows-section.js';
import { ErrorAlert } from '../../components/feedback/error-alert.js';
import { PersonalAgentsSection } from './personal-agents-section.js';

interface ProjectBudgetsDialogProps {
  readonly project: { readonly id: string; readonly name: string };
  readonly onClose: () => void;
}

export function ProjectBudgetsDialog({ project: { id, name }, onClose }: ProjectBudgetsDialogProps) {
  const params = { path: { id } };
  const queryKey = ['projects', id, 'budgets'];
  const project = useQuery({
    queryKey,
    queryFn: async () => (await api.get('/v1/projects/{id}', { params })).project,
  });
  const save = async (
    body:
      | { budgets: BudgetRowInput[] }
      | { agentDefaults: AgentDefaults | null }
      | { personalAgents: { credentialIds: string[] } | null },
  ) => {
    const saved = await api.patch('/v1/projects/{id}', { params, body });
    queryClient.setQueryData(queryKey, saved.project);
  };
  return (
    <Modal opened onClose={onClose} title={`Budgets and defaults of ${name}`} size="lg">
      {project.error !== null && <ErrorAlert error={project.error} onRetry={project.refetch} />}
      {project.data === undefined ? (
        project.error === null && <Skeleton h={160} />
      ) : (
        <Stack gap="lg">
          <BudgetRowsSection rows={project.data.budgets} save={(budgets) => save({ budgets })} />
          <AgentDefaultsForm defaults={project.data.agentDefaults} save={(agentDefaults) => save({ agentDefaults })} />
          <PersonalAgentsSection
            projectId={id}
            setting={project.data.personalAgents}
            save={(personalAgents) => save({ personalAgents })}
          />
        </Stack>
      )}
    </Modal>
  );
}

/** Budgets per day, week, month and in total of a project, defaults for its new agents, and personal agents. */
import { Modal, Skeleton, Stack } from '@mantine/core';
import { AgentDefaultsForm } from '../../components/budgets/agent-defaults-form.js';
import { BudgetRowsSection } from '../../components/budgets/budget-rows-section.js';
import { ErrorAlert } from '../../components/feedback/error-alert.js';
import { PersonalAgentsSection } from './personal-agents-section.js';
import { saveProject, useProject } from './use-project.js';

interface ProjectBudgetsDialogProps {
  readonly project: { readonly id: string; readonly name: string };
  readonly onClose: () => void;
}

export function ProjectBudgetsDialog({ project: { id, name }, onClose }: ProjectBudgetsDialogProps) {
  const project = useProject(id);
  return (
    <Modal opened onClose={onClose} title={`Budgets and defaults of ${name}`} size="lg">
      {project.error !== null && <ErrorAlert error={project.error} onRetry={project.refetch} />}
      {project.data === undefined ? (
        project.error === null && <Skeleton h={160} />
      ) : (
        <Stack gap="lg">
          <BudgetRowsSection rows={project.data.budgets} save={(budgets) => saveProject(id, { budgets })} />
          <AgentDefaultsForm
            defaults={project.data.agentDefaults}
            save={(agentDefaults) => saveProject(id, { agentDefaults })}
          />
          <PersonalAgentsSection
            projectId={id}
            setting={project.data.personalAgents}
            save={(personalAgents) => saveProject(id, { personalAgents })}
          />
        </Stack>
      )}
    </Modal>
  );
}

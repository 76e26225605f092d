/** Budgets per day, week, month and in total of the organization, and defaults for its new agents. */
import { api } from '../../api/api-client.js';
import { queryClient } from '../../api/query-client.js';
import { type AgentDefaults, AgentDefaultsForm } from '../../components/budgets/agent-defaults-form.js';
import type { BudgetRow, BudgetRowInput } from '../../components/budgets/budget-row.js';
import { BudgetRowsSection } from '../../components/budgets/budget-rows-section.js';

interface OrganizationBudgetsProps {
  readonly organization: {
    readonly id: string;
    readonly budgets: readonly BudgetRow[];
    readonly agentDefaults: AgentDefaults | null;
  };
}

export function OrganizationBudgets({ organization: { id, budgets, agentDefaults } }: OrganizationBudgetsProps) {
  const save = async (body: { budgets: BudgetRowInput[] } | { agentDefaults: AgentDefaults | null }) => {
    const { org } = await api.patch('/v1/orgs/{id}', { params: { path: { id } }, body });
    queryClient.setQueryData(['organization', id], org);
  };
  return (
    <>
      <BudgetRowsSection rows={budgets} save={(rows) => save({ budgets: rows })} />
      <AgentDefaultsForm defaults={agentDefaults} save={(defaults) => save({ agentDefaults: defaults })} />
    </>
  );
}

import { Button, Group, Select, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation } from '@tanstack/react-query';
import { api } from '../../api/api-client.js';
import { useFormDraft } from '../../api/form-drafts-across-sign-in.js';
import { queryClient } from '../../api/query-client.js';
import { RoleGuardedButton } from '../../components/buttons/role-guarded-button.js';
import { BudgetAmountInput } from '../../components/forms/budget-amount-input.js';
import { formErrors } from '../../components/forms/server-errors-at-form-fields.js';
import { dollarInputToCents } from '../../format/format.js';
import { onlyProjectId, useProjects } from '../../resources/agent-account-and-key-hooks.js';

const SUGGESTED_BUDGET_USD = 20;
const EMPTY = { name: '', budget: SUGGESTED_BUDGET_USD as number | string, projectId: '' };
const LABELS = { name: 'Name', projectId: 'Project', budgetCentsMonthly: 'Monthly budget' };

export function CreateAgentStep({ onCreated }: { readonly onCreated: (agentId: string) => void }) {
  const projects = useProjects();
  const onlyProject = onlyProjectId(projects.data);
  const [draft, saveDraft] = useFormDraft('setup', EMPTY);
  const form = useForm({
    initialValues: draft,
    onValuesChange: saveDraft,
    validate: {
      name: (value) => (value.trim() === '' ? 'Enter a name' : null),
      projectId: (value) => (value === '' && onlyProject === '' ? 'Select a project' : null),
    },
  });
  const create = useMutation({
    mutationFn: async ({ name, budget, projectId }: typeof form.values) => {
      const project = projectId === '' ? onlyProject : projectId;
      const cents = dollarInputToCents(budget);
      const stated = cents === null ? {} : { budgetCentsMonthly: cents };
      const body = { projectId: project, name: name.trim(), ...stated };
      return (await api.post('/v1/agents', { body })).agent;
    },
    onSuccess: async ({ id }) => {
      onCreated(id);
      await queryClient.invalidateQueries({ queryKey: ['agents'] });
    },
  });
  const errors = formErrors(create.error, LABELS);
  return (
    <form onSubmit={form.onSubmit((values) => create.mutate(values))}>
      <Stack gap="md" maw={440}>
        {errors.formError}
        <TextInput
          label="Name"
          placeholder="Support bot"
          autoFocus
          {...form.getInputProps('name')}
          error={form.errors.name ?? errors.fieldError('name')}
        />
        {(projects.data ?? []).length > 1 && (
          <Select
            label="Project"
            allowDeselect={false}
            data={(projects.data ?? []).map(({ id, name }) => ({ value: id, label: name }))}
            {...form.getInputProps('projectId')}
            placeholder="Select a project"
            error={form.errors.projectId ?? errors.fieldError('projectId')}
            value={form.values.projectId || onlyProject || null}
          />
        )}
        <BudgetAmountInput
          label="Monthly budget (USD)"
          description="Calls over the budget are rejected. Empty: the default of the project, if it has one."
          placeholder="Project default"
          {...form.getInputProps('budget')}
          error={errors.fieldError('budgetCentsMonthly')}
        />
        <Group>
          <RoleGuardedButton requiredRole="admin" type="submit" loading={create.isPending || projects.isPending}>
            Create agent
          </RoleGuardedButton>
          {projects.error !== null && (
            <Button variant="default" onClick={() => void projects.refetch()}>
              Reload projects
            </Button>
          )}
        </Group>
      </Stack>
    </form>
  );
}

import { Button, Group, Select, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation } from '@tanstack/react-query';
import { api } from '../../api/api.js';
import { useDraft } from '../../api/drafts.js';
import { queryClient } from '../../api/query-client.js';
import { toCents } from '../../format/format.js';
import { BudgetInput } from '../../parts/budget-input.js';
import { formProblem } from '../../parts/form-problem.js';
import { GuardedButton } from '../../parts/guarded-button.js';
import { useProjects } from '../../resources/agents.js';

const SUGGESTED_DOLLARS = 20;
const EMPTY = { name: '', budget: SUGGESTED_DOLLARS as number | string, projectId: '' };
const LABELS = { name: 'Name', projectId: 'Project', budgetCentsMonthly: 'Budget' };

export function NameStep({ onCreated }: { readonly onCreated: (agentId: string) => void }) {
  const projects = useProjects();
  const [draft, keep] = useDraft('setup', EMPTY);
  const form = useForm({
    initialValues: draft,
    onValuesChange: keep,
    validate: { name: (value) => (value.trim() === '' ? 'A name is needed' : null) },
  });
  const create = useMutation({
    mutationFn: async ({ name, budget, projectId }: typeof form.values) => {
      const project = projectId === '' ? (projects.data?.[0]?.id ?? '') : projectId;
      const body = { projectId: project, name: name.trim(), budgetCentsMonthly: toCents(budget) };
      return (await api.post('/v1/agents', { body })).agent;
    },
    onSuccess: async ({ id }) => {
      onCreated(id);
      await queryClient.invalidateQueries({ queryKey: ['agents'] });
    },
  });
  const problem = formProblem(create.error, LABELS);
  return (
    <form onSubmit={form.onSubmit((values) => create.mutate(values))}>
      <Stack gap="md" maw={440}>
        {problem.above}
        <TextInput
          label="Name"
          placeholder="Support bot"
          autoFocus
          {...form.getInputProps('name')}
          error={form.errors.name ?? problem.at('name')}
        />
        {(projects.data ?? []).length > 1 && (
          <Select
            label="Project"
            allowDeselect={false}
            data={(projects.data ?? []).map(({ id, name }) => ({ value: id, label: name }))}
            {...form.getInputProps('projectId')}
            value={form.values.projectId === '' ? (projects.data?.[0]?.id ?? null) : form.values.projectId}
          />
        )}
        <BudgetInput
          label="Monthly budget in dollars"
          description="Calls above it are refused. Empty: no budget."
          {...form.getInputProps('budget')}
          error={problem.at('budgetCentsMonthly')}
        />
        <Group>
          <GuardedButton needs="admin" type="submit" loading={create.isPending || projects.isPending}>
            Create the agent
          </GuardedButton>
          {projects.error !== null && (
            <Button variant="default" onClick={() => void projects.refetch()}>
              Load the projects again
            </Button>
          )}
        </Group>
      </Stack>
    </form>
  );
}

/** Name and budget of the organization. */
import { Card, Group, Skeleton, Text, TextInput, Title } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { api } from '../../api/api.js';
import { useDraft } from '../../api/drafts.js';
import { ME, queryClient } from '../../api/query-client.js';
import { useMe } from '../../api/session.js';
import { cents, toCents, typedDollars } from '../../format/format.js';
import { BudgetBar } from '../../parts/budget-bar.js';
import { BudgetInput } from '../../parts/budget-input.js';
import { Failure } from '../../parts/failure.js';
import { Form } from '../../parts/form.js';
import { formProblem } from '../../parts/form-problem.js';
import { GuardedButton } from '../../parts/guarded-button.js';
import { toast } from '../../parts/toast.js';

const LABELS = { name: 'Name', budgetCentsMonthly: 'Budget' };

const readOrganization = async (id: string) => (await api.get('/v1/orgs/{id}', { params: { path: { id } } })).org;
type Organization = Awaited<ReturnType<typeof readOrganization>>;

export function OrganizationSettings() {
  const id = useMe().data?.orgId ?? '';
  const own = useQuery({ queryKey: ['organization', id], queryFn: () => readOrganization(id), enabled: id !== '' });
  return (
    <Card component="section" aria-label="Organization" maw={560}>
      <Title order={2} mb="md">
        Organization
      </Title>
      {own.error !== null && <Failure error={own.error} onRetry={own.refetch} />}
      {own.data === undefined ? own.error === null && <Skeleton h={200} /> : <Settings organization={own.data} />}
    </Card>
  );
}

function Settings({ organization }: { readonly organization: Organization }) {
  const { id, budgetCentsMonthly: before } = organization;
  const [name, setName] = useDraft(`organization ${id} name`, organization.name);
  const [budget, setBudget] = useDraft<number | string>(`organization ${id} budget`, typedDollars(before));
  const after = toCents(budget);
  const changes = {
    ...(name === organization.name ? {} : { name }),
    ...(after === before ? {} : { budgetCentsMonthly: after }),
  };
  const save = useMutation({
    mutationFn: async () => (await api.patch('/v1/orgs/{id}', { params: { path: { id } }, body: changes })).org,
    onSuccess: (org) => {
      queryClient.setQueryData(['organization', id], org);
      void queryClient.invalidateQueries({ queryKey: ME });
      void queryClient.invalidateQueries({ queryKey: ['usage', 'summary'] });
      toast('The organization is saved');
    },
  });
  const problem = formProblem(save.error, LABELS);
  return (
    <Form problem={problem} onSubmit={() => save.mutate()}>
      <TextInput
        label="Name"
        required
        withAsterisk={false}
        maxLength={80}
        autoComplete="organization"
        error={problem.at('name')}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <BudgetInput
        label="Budget a month in dollars"
        description="For all agents together; calls above it are refused. Empty: no budget."
        error={problem.at('budgetCentsMonthly')}
        value={budget}
        onChange={setBudget}
      />
      <ThisMonth budgetCents={before} />
      <Group justify="flex-end">
        <GuardedButton
          needs="admin"
          type="submit"
          loading={save.isPending}
          whyNot={Object.keys(changes).length === 0 ? 'Nothing has changed.' : null}
        >
          Save
        </GuardedButton>
      </Group>
    </Form>
  );
}

/** What the month has cost so far, against the budget that holds. */
function ThisMonth({ budgetCents }: { readonly budgetCents: number | null }) {
  const query = { period: '7d' } as const;
  const summary = useQuery({
    queryKey: ['usage', 'summary', query],
    queryFn: () => api.get('/v1/usage/summary', { params: { query } }),
  });
  if (summary.data === undefined) return null;
  const { monthCents } = summary.data;
  return (
    <div>
      <span className="acg-label">This month so far</span>
      {budgetCents === null ? (
        <Text size="sm" className="acg-numbers">
          {cents(monthCents)}
        </Text>
      ) : (
        <BudgetBar spentCents={monthCents} budgetCents={budgetCents} />
      )}
    </div>
  );
}

/** Name, budget and second-factor policy of the organization. */
import { Card, Checkbox, Group, Skeleton, Text, TextInput, Title } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/api-client.js';
import { useFormDraft } from '../../api/form-drafts-across-sign-in.js';
import { ME_QUERY_KEY, queryClient } from '../../api/query-client.js';
import { useMe, useMissingRoleReason } from '../../api/session.js';
import { useQuery } from '../../api/use-query.js';
import { RoleGuardedButton } from '../../components/buttons/role-guarded-button.js';
import { BudgetBar } from '../../components/feedback/budget-bar.js';
import { ErrorAlert } from '../../components/feedback/error-alert.js';
import { showToast } from '../../components/feedback/toast.js';
import { BudgetAmountInput } from '../../components/forms/budget-amount-input.js';
import { Form } from '../../components/forms/form-with-server-errors.js';
import { formErrors } from '../../components/forms/server-errors-at-form-fields.js';
import { centsToDollarInput, dollarInputToCents, formatCents } from '../../format/format.js';
import { OrganizationBudgets } from './organization-budgets.js';

const LABELS = { name: 'Name', budgetCentsMonthly: 'Monthly budget' };

const fetchOrganization = async (id: string) => (await api.get('/v1/orgs/{id}', { params: { path: { id } } })).org;
type Organization = Awaited<ReturnType<typeof fetchOrganization>>;

export function OrganizationSettings() {
  const id = useMe().data?.orgId ?? '';
  const organizationQuery = useQuery({
    queryKey: ['organization', id],
    queryFn: () => fetchOrganization(id),
    enabled: id !== '',
  });
  // Requested beside the organization, not after it.
  const usage = { period: '7d' } as const;
  const summary = useQuery({
    queryKey: ['usage', 'summary', usage],
    queryFn: () => api.get('/v1/usage/summary', { params: { query: usage } }),
  });
  return (
    <>
      <Card component="section" aria-label="Organization" maw={760}>
        <Title order={2} mb="md">
          Organization
        </Title>
        {organizationQuery.error !== null && (
          <ErrorAlert error={organizationQuery.error} onRetry={organizationQuery.refetch} />
        )}
        {organizationQuery.data === undefined ? (
          organizationQuery.error === null && <Skeleton h={200} />
        ) : (
          <OrganizationForm organization={organizationQuery.data} monthCents={summary.data?.monthCents} />
        )}
      </Card>
      {organizationQuery.data !== undefined && <OrganizationBudgets organization={organizationQuery.data} />}
    </>
  );
}

interface OrganizationFormProps {
  readonly organization: Organization;
  /** Undefined until it is loaded. */
  readonly monthCents: number | undefined;
}

function OrganizationForm({ organization, monthCents }: OrganizationFormProps) {
  const { id, budgetCentsMonthly: before } = organization;
  const [name, setName] = useFormDraft(`organization ${id} name`, organization.name);
  const [budget, setBudget] = useFormDraft<number | string>(`organization ${id} budget`, centsToDollarInput(before));
  const [required, setRequired] = useState(organization.requireSecondFactor);
  const policyReason = useMissingRoleReason('owner');
  const after = dollarInputToCents(budget);
  const changes = {
    ...(name === organization.name ? {} : { name }),
    ...(after === before ? {} : { budgetCentsMonthly: after }),
    ...(required === organization.requireSecondFactor ? {} : { requireSecondFactor: required }),
  };
  const save = useMutation({
    mutationFn: async () => (await api.patch('/v1/orgs/{id}', { params: { path: { id } }, body: changes })).org,
    onSuccess: (org) => {
      queryClient.setQueryData(['organization', id], org);
      void queryClient.invalidateQueries({ queryKey: ME_QUERY_KEY });
      void queryClient.invalidateQueries({ queryKey: ['usage', 'summary'] });
      showToast('Organization saved');
    },
  });
  const errors = formErrors(save.error, LABELS);
  return (
    <Form errors={errors} onSubmit={() => save.mutate()}>
      <TextInput
        label="Name"
        required
        withAsterisk={false}
        maxLength={80}
        autoComplete="organization"
        error={errors.fieldError('name')}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <BudgetAmountInput
        label="Monthly budget (USD)"
        description="Shared by all agents. Calls over it are rejected. Empty: no budget."
        error={errors.fieldError('budgetCentsMonthly')}
        value={budget}
        onChange={setBudget}
      />
      {monthCents !== undefined && <MonthToDateSpend spentCents={monthCents} budgetCents={before} />}
      <Checkbox
        label="Require a second factor"
        description={policyReason ?? 'Members without one must set it up before they can use the organization.'}
        disabled={policyReason !== null}
        checked={required}
        onChange={(event) => setRequired(event.currentTarget.checked)}
      />
      <Group justify="flex-end">
        <RoleGuardedButton
          requiredRole="admin"
          type="submit"
          loading={save.isPending}
          disabledReason={Object.keys(changes).length === 0 ? 'No changes to save.' : null}
        >
          Save
        </RoleGuardedButton>
      </Group>
    </Form>
  );
}

interface MonthToDateSpendProps {
  readonly spentCents: number;
  readonly budgetCents: number | null;
}

/** Spend of the month so far, against the budget. */
const MonthToDateSpend = ({ spentCents, budgetCents }: MonthToDateSpendProps) => (
  <div>
    <span className="acg-label">This month so far</span>
    {budgetCents === null ? (
      <Text size="sm" className="acg-tabular-numbers">
        {formatCents(spentCents)}
      </Text>
    ) : (
      <BudgetBar spentCents={spentCents} budgetCents={budgetCents} />
    )}
  </div>
);

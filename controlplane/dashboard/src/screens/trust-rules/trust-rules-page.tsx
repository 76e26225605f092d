/** The Trust rules page: which CI jobs and pods get gateway tokens for tokens of their own platform. */
import { Group } from '@mantine/core';
import { keepPreviousData, useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/api-client.js';
import { useFormDraft } from '../../api/form-drafts-across-sign-in.js';
import { useQuery } from '../../api/use-query.js';
import { RoleGuardedButton } from '../../components/buttons/role-guarded-button.js';
import { EmptyState } from '../../components/feedback/empty-state.js';
import { RelativeTime } from '../../components/feedback/relative-time.js';
import { showToast } from '../../components/feedback/toast.js';
import { ConfirmDialog } from '../../components/forms/confirm-dialog.js';
import { PageHeader } from '../../components/layout/page-header.js';
import { DataTable } from '../../components/tables/data-table.js';
import { RowActionButton } from '../../components/tables/row-action-button.js';
import { useUrlSorting } from '../../hooks/use-url-sorting.js';
import { useUrlState } from '../../hooks/use-url-state.js';
import { EditTrustRuleDialog } from './edit-trust-rule-dialog.js';
import { fetchTrustRules, PAGE_SIZE, refreshTrustRules, SORTS, type TrustRule } from './fetch-trust-rules.js';
import { NewTrustRuleDialog } from './new-trust-rule-dialog.js';
import { TrustRuleDetails } from './trust-rule-details.js';

const DEFAULTS = { page: 1, rule: '' };

export function TrustRulesPage() {
  const { values, set } = useUrlState(DEFAULTS);
  const [isCreating, setIsCreating] = useFormDraft('new trust rule', false);
  const [toEdit, setToEdit] = useState<TrustRule | null>(null);
  const [toDelete, setToDelete] = useState<TrustRule | null>(null);
  const { query, sorting } = useUrlSorting(SORTS);
  const rules = useQuery({
    queryKey: ['trust-rules', values.page, query],
    queryFn: () => fetchTrustRules({ page: values.page, ...query }),
    placeholderData: keepPreviousData,
  });
  const deleteRule = useMutation({
    mutationFn: ({ id }: TrustRule) => api.delete('/v1/trust-rules/{id}', { params: { path: { id } } }),
    onSuccess: (_, { name }) => {
      refreshTrustRules();
      setToDelete(null);
      showToast(`${name} deleted`);
    },
  });
  const shown = rules.data?.rules.find(({ id }) => id === values.rule);
  const button = (
    <RoleGuardedButton requiredRole="admin" onClick={() => setIsCreating(true)}>
      New trust rule
    </RoleGuardedButton>
  );
  return (
    <>
      <PageHeader
        title="Trust rules"
        description="CI jobs and pods exchange the token of their own platform for a short-lived gateway token, so they store no secret."
        actions={button}
      />
      <DataTable
        label="Trust rules"
        query={rules}
        rows={(data) => data.rules}
        rowKey={({ id }) => id}
        sorting={sorting}
        paging={({ total }) => ({ page: values.page, pageSize: PAGE_SIZE, total, onPage: (page) => set({ page }) })}
        empty={
          <EmptyState
            title="No trust rules yet"
            text="Create one for GitHub Actions, GitLab, Kubernetes or SPIFFE."
            action={button}
          />
        }
        columns={[
          { header: 'Name', sortKey: 'name', cell: ({ name }) => name },
          { header: 'Agent', sortKey: 'agentName', cell: ({ agentName }) => agentName },
          { header: 'Issuer', cell: ({ issuer }) => issuer.replace(/^https:\/\//, ''), wideOnly: true },
          {
            header: 'Conditions',
            cell: ({ conditions }) =>
              conditions.map(({ claim, values: list }) => `${claim} = ${list.join(' or ')}`).join(', '),
            wideOnly: true,
          },
          {
            header: 'Last exchange',
            sortKey: 'lastUsedAt',
            cell: ({ lastUsedAt }) => <RelativeTime at={lastUsedAt} never="Never" />,
          },
          {
            header: 'Actions',
            cell: (rule) => (
              <Group gap="xs" wrap="nowrap" justify="flex-end">
                <RowActionButton
                  requiredRole="viewer"
                  label="Details"
                  rowName={rule.name}
                  onClick={() => set({ rule: rule.id })}
                />
                <RowActionButton
                  requiredRole="admin"
                  label="Edit"
                  rowName={rule.name}
                  onClick={() => setToEdit(rule)}
                />
                <RowActionButton
                  requiredRole="admin"
                  label="Delete"
                  rowName={rule.name}
                  isDestructive
                  onClick={() => {
                    deleteRule.reset();
                    setToDelete(rule);
                  }}
                />
              </Group>
            ),
          },
        ]}
      />
      {isCreating && (
        <NewTrustRuleDialog
          onClose={() => setIsCreating(false)}
          onCreated={(id) => {
            refreshTrustRules();
            setIsCreating(false);
            set({ page: 1, rule: id });
          }}
        />
      )}
      {toEdit !== null && <EditTrustRuleDialog rule={toEdit} onClose={() => setToEdit(null)} />}
      {shown !== undefined && <TrustRuleDetails rule={shown} onClose={() => set({ rule: '' })} />}
      <ConfirmDialog
        opened={toDelete !== null}
        onClose={() => setToDelete(null)}
        title="Delete trust rule"
        action="Delete trust rule"
        onConfirm={() => toDelete !== null && deleteRule.mutate(toDelete)}
        pending={deleteRule.isPending}
        error={deleteRule.error}
      >
        All gateway tokens of {toDelete?.name} end within a second, and their running calls break off. Workloads get no
        new ones from it. This cannot be undone: a new rule has another id and audience.
      </ConfirmDialog>
    </>
  );
}

/** The Bill check page: a month of the ledger beside the bills of the providers, with causes and adjustments. */
import { Alert, Code, Group, NativeSelect, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/api-client.js';
import { useFormDraft } from '../../api/form-drafts-across-sign-in.js';
import { RoleGuardedButton } from '../../components/buttons/role-guarded-button.js';
import { EmptyState } from '../../components/feedback/empty-state.js';
import { RelativeTime } from '../../components/feedback/relative-time.js';
import { StatusBadge } from '../../components/feedback/status-badge.js';
import { showErrorToast, showToast } from '../../components/feedback/toast.js';
import { ConfirmDialog } from '../../components/forms/confirm-dialog.js';
import { PageHeader } from '../../components/layout/page-header.js';
import { DataTable } from '../../components/tables/data-table.js';
import { RowActionButton } from '../../components/tables/row-action-button.js';
import { formatCents } from '../../format/format.js';
import { useUrlState } from '../../hooks/use-url-state.js';
import { providerLabel } from '../../messages/provider-labels.js';
import { AcceptDifferenceDialog } from './accept-difference-dialog.js';
import { BillingLinesTable } from './billing-lines-table.js';
import {
  type BillingAccount,
  listMonths,
  refreshAccounts,
  refreshBilling,
  STATES,
  useBillingReport,
} from './billing-report.js';
import { EditBillingAccountDialog } from './edit-billing-account-dialog.js';
import { NewBillingAccountDialog } from './new-billing-account-dialog.js';

const DEFAULTS = { month: '', account: '', by: 'day', state: '', page: 1 };
const MONTHS_SHOWN = 12;

export function BillingPage() {
  const { values, set } = useUrlState(DEFAULTS);
  const months = listMonths(MONTHS_SHOWN, Date.now());
  const month = months.includes(values.month) ? values.month : months[0]!;
  const report = useBillingReport(month);
  const [isAdding, setIsAdding] = useFormDraft('new billing', false);
  const [toAccept, setToAccept] = useState<BillingAccount | null>(null);
  const [toEdit, setToEdit] = useState<BillingAccount | null>(null);
  const [toDelete, setToDelete] = useState<BillingAccount | null>(null);
  const check = useMutation({
    mutationFn: async (id: string) =>
      (await api.post('/v1/billing/accounts/{id}/check', { params: { path: { id } }, body: { month } })).account,
    onSuccess: ({ problem }) => {
      refreshBilling();
      showToast(problem ?? 'Bill checked');
    },
    onError: showErrorToast,
  });
  const remove = useMutation({
    mutationFn: (id: string) => api.delete('/v1/billing/accounts/{id}', { params: { path: { id } } }),
    onSuccess: () => {
      refreshAccounts();
      setToDelete(null);
      showToast('Billing account deleted');
    },
  });
  const opened = report.data?.accounts.find(({ id }) => id === values.account);
  const add = (
    <RoleGuardedButton requiredRole="admin" onClick={() => setIsAdding(true)}>
      New billing account
    </RoleGuardedButton>
  );
  return (
    <>
      <PageHeader
        title="Bill check"
        description="Compares the costs that the gateway recorded with the providers’ bills, every night. Months are UTC."
        actions={(report.data?.accounts.length ?? 0) > 0 && add}
      />
      <Group gap="sm" mb="md" align="flex-end" className="acg-filters">
        <NativeSelect
          label="Month"
          data={[...months]}
          value={month}
          onChange={(event) => set({ month: event.currentTarget.value })}
        />
      </Group>
      <Stack gap="lg">
        {report.data?.accounts.map(({ id, name, problem }) =>
          problem === null ? null : (
            <Alert key={id} color="red" title={`The last check of ${name} failed`}>
              {problem}
            </Alert>
          ),
        )}
        <DataTable
          label="Billing accounts"
          query={report}
          rows={(data) => data.accounts}
          rowKey={({ id }) => id}
          href={({ id }) => `/billing?month=${month}&account=${id}`}
          empty={
            <EmptyState
              title="No billing accounts yet"
              text="Store an admin key of OpenAI, Anthropic or OpenRouter to compare the ledger with the bill."
              action={add}
            />
          }
          columns={[
            { header: 'Account', sortValue: ({ name }) => name, cell: ({ name }) => name },
            { header: 'Provider', cell: ({ providerSlug }) => providerLabel(providerSlug), wideOnly: true },
            {
              header: 'State',
              cell: ({ state }) => <StatusBadge tone={STATES[state].tone}>{STATES[state].label}</StatusBadge>,
            },
            { header: 'Gateway cost', numeric: true, cell: ({ ourCents }) => formatCents(ourCents) },
            { header: 'Billed cost', numeric: true, cell: ({ theirCents }) => formatCents(theirCents) },
            {
              header: 'Difference',
              numeric: true,
              sortValue: ({ differenceCents }) => differenceCents,
              cell: ({ differenceCents }) => formatCents(differenceCents),
            },
            {
              header: 'Open',
              numeric: true,
              sortValue: ({ openCents }) => openCents,
              cell: ({ openCents }) => formatCents(openCents),
            },
            {
              header: 'Checked',
              cell: ({ checkedAt }) => <RelativeTime at={checkedAt} never="Never" />,
              wideOnly: true,
            },
            {
              header: 'Actions',
              cell: (account) => (
                <Group gap="xs" justify="flex-end" wrap="nowrap">
                  <RowActionButton
                    requiredRole="admin"
                    label="Check now"
                    rowName={account.name}
                    loading={check.isPending && check.variables === account.id}
                    onClick={() => check.mutate(account.id)}
                  />
                  <RowActionButton
                    requiredRole="admin"
                    label="Accept"
                    rowName={account.name}
                    onClick={() => setToAccept(account)}
                  />
                  <RowActionButton
                    requiredRole="admin"
                    label="Edit"
                    rowName={account.name}
                    onClick={() => setToEdit(account)}
                  />
                  <RowActionButton
                    requiredRole="admin"
                    label="Delete"
                    rowName={account.name}
                    isDestructive
                    onClick={() => {
                      remove.reset();
                      setToDelete(account);
                    }}
                  />
                </Group>
              ),
            },
          ]}
        />
        {opened !== undefined && (
          <>
            <Text size="sm">
              {`Billed calls that failed at the gateway ${formatCents(opened.failureCents)}, calls that the gateway did not make ${formatCents(opened.unattributedCents)}, not billed ${formatCents(opened.unbilledCents)} (may still be billed: ${formatCents(opened.pendingCents)}), other prices ${formatCents(opened.priceCents)}. Keys that no account here holds: ${formatCents(opened.otherKeysCents)}.`}
            </Text>
            {opened.ambiguousCents > 0 && (
              <Alert color="yellow" title={`${formatCents(opened.ambiguousCents)} belong to keys that look alike`}>
                <Text size="sm">
                  The provider shows several keys with the same characters, so calls of one cannot be told from calls of
                  another. Replace one of them by a new key.
                </Text>
              </Alert>
            )}
            {report.data?.drifts
              .filter(({ accountId }) => accountId === opened.id)
              .map(({ model, since, prices, pricesFile }) => (
                <Alert key={model} color="yellow" title={`${model} is billed at another price since ${since}`}>
                  <Text size="sm">
                    {prices
                      .map(
                        ({ field, ourUsdPerMTok, theirUsdPerMTok }) =>
                          `${field}: $${theirUsdPerMTok} instead of $${ourUsdPerMTok}`,
                      )
                      .join('; ')}
                    . The entry of the price file that removes the difference:
                  </Text>
                  <Code block className="acg-break-anywhere">
                    {pricesFile}
                  </Code>
                </Alert>
              ))}
            {report.data?.adjustments
              .filter(({ accountId }) => accountId === opened.id)
              .map(({ id, amountCents, reason, createdBy }) => (
                <Text key={id} size="sm">
                  {`Accepted ${formatCents(amountCents)}: ${reason} (${createdBy})`}
                </Text>
              ))}
            <BillingLinesTable account={opened} month={month} values={values} onChange={set} />
          </>
        )}
      </Stack>
      {isAdding && (
        <NewBillingAccountDialog
          onClose={() => setIsAdding(false)}
          onAdded={(id) => {
            refreshBilling();
            setIsAdding(false);
            showToast('Billing account stored');
            set({ account: id });
          }}
        />
      )}
      {toAccept !== null && (
        <AcceptDifferenceDialog
          account={toAccept}
          month={month}
          onClose={() => setToAccept(null)}
          onAccepted={() => {
            refreshBilling();
            setToAccept(null);
            showToast('Difference accepted');
          }}
        />
      )}
      {toEdit !== null && (
        <EditBillingAccountDialog
          account={toEdit}
          onClose={() => setToEdit(null)}
          onSaved={() => {
            refreshBilling();
            setToEdit(null);
            showToast('Billing account saved');
          }}
        />
      )}
      {toDelete !== null && (
        <ConfirmDialog
          opened
          onClose={() => setToDelete(null)}
          title={`Delete ${toDelete.name}`}
          action="Delete billing account"
          onConfirm={() => remove.mutate(toDelete.id)}
          pending={remove.isPending}
          error={remove.error}
        >
          Deletes the admin key from the gateway, with all lines and adjustments. Revoke the key at the provider, too.
        </ConfirmDialog>
      )}
    </>
  );
}

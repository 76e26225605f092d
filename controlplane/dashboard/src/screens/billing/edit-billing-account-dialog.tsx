/** Changes the name and the alert threshold of a billing account, or replaces its admin key. */
import { PasswordInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/api-client.js';
import { useFormDraft } from '../../api/form-drafts-across-sign-in.js';
import { BudgetAmountInput } from '../../components/forms/budget-amount-input.js';
import { FormDialog } from '../../components/forms/form-dialog.js';
import { NameInput } from '../../components/forms/name-input.js';
import { formErrors } from '../../components/forms/server-errors-at-form-fields.js';
import { dollarInputToCents } from '../../format/format.js';
import type { BillingAccount } from './billing-report.js';

const LABELS = { name: 'Name', adminKey: 'New admin key', alertCents: 'Alert above (USD)' };
const CENTS = 100;

interface EditBillingAccountDialogProps {
  readonly account: BillingAccount;
  readonly onClose: () => void;
  readonly onSaved: () => void;
}

export function EditBillingAccountDialog({ account, onClose, onSaved }: EditBillingAccountDialogProps) {
  const [form, setForm] = useFormDraft(`edit billing ${account.id}`, {
    name: account.name,
    alert: (account.alertCents / CENTS) as number | string,
  });
  const [adminKey, setAdminKey] = useState('');
  const save = useMutation({
    mutationFn: () => {
      const alertCents = dollarInputToCents(form.alert);
      return api.patch('/v1/billing/accounts/{id}', {
        params: { path: { id: account.id } },
        body: {
          name: form.name.trim(),
          ...(alertCents === null ? {} : { alertCents }),
          ...(adminKey.trim() === '' ? {} : { adminKey: adminKey.trim() }),
        },
      });
    },
    gcTime: 0,
    onSuccess: onSaved,
  });
  const errors = formErrors(save.error, LABELS);
  return (
    <FormDialog
      title={`Edit ${account.name}`}
      errors={errors}
      action="Save"
      pending={save.isPending}
      disabled={form.name.trim() === ''}
      onClose={onClose}
      onSubmit={() => save.mutate()}
    >
      <NameInput value={form.name} onChange={(name) => setForm({ ...form, name })} error={errors.fieldError('name')} />
      <BudgetAmountInput
        label={LABELS.alertCents}
        description="Calls of one month that the gateway did not make and that cost more send an event."
        placeholder=""
        value={form.alert}
        onChange={(alert) => setForm({ ...form, alert })}
        error={errors.fieldError('alertCents')}
      />
      <PasswordInput
        label={`${LABELS.adminKey} (optional)`}
        description="Empty: the stored key stays."
        autoComplete="off"
        data-1p-ignore
        data-lpignore="true"
        spellCheck={false}
        {...errors.secretFieldProps('adminKey')}
        value={adminKey}
        onChange={(event) => setAdminKey(event.currentTarget.value)}
      />
    </FormDialog>
  );
}

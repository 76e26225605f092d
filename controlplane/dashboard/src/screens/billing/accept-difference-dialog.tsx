/** Accepts a difference of a month with a reason. The adjustment is a row of its own; no record changes. */
import { NumberInput, Textarea } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { api } from '../../api/api-client.js';
import { useFormDraft } from '../../api/form-drafts-across-sign-in.js';
import { FormDialog } from '../../components/forms/form-dialog.js';
import { formErrors } from '../../components/forms/server-errors-at-form-fields.js';
import type { BillingAccount } from './billing-report.js';

const LABELS = { amountCents: 'Amount', reason: 'Reason' };
const CENTS_PER_USD = 100;

interface AcceptDifferenceDialogProps {
  readonly account: BillingAccount;
  readonly month: string;
  readonly onClose: () => void;
  readonly onAccepted: () => void;
}

export function AcceptDifferenceDialog({ account, month, onClose, onAccepted }: AcceptDifferenceDialogProps) {
  const open = Math.round(account.openCents) / CENTS_PER_USD;
  const [amount, setAmount] = useFormDraft<number | string>(`accept ${account.id} amount`, open);
  const [reason, setReason] = useFormDraft(`accept ${account.id} reason`, '');
  const accept = useMutation({
    mutationFn: () =>
      api.post('/v1/billing/adjustments', {
        body: {
          accountId: account.id,
          month,
          amountCents: Math.round(Number(amount) * CENTS_PER_USD),
          reason: reason.trim(),
        },
      }),
    onSuccess: onAccepted,
  });
  const errors = formErrors(accept.error, LABELS);
  return (
    <FormDialog
      title={`Accept a difference of ${month}`}
      errors={errors}
      onSubmit={() => accept.mutate()}
      action="Accept difference"
      pending={accept.isPending}
      onClose={onClose}
    >
      <NumberInput
        label="Amount (USD)"
        description="Billed cost minus gateway cost. Listed as a separate line. Usage records do not change."
        prefix="$"
        decimalScale={2}
        hideControls
        error={errors.fieldError('amountCents')}
        value={amount}
        onChange={setAmount}
      />
      <Textarea
        label="Reason"
        required
        withAsterisk={false}
        maxLength={500}
        error={errors.fieldError('reason')}
        value={reason}
        onChange={(event) => setReason(event.currentTarget.value)}
      />
    </FormDialog>
  );
}

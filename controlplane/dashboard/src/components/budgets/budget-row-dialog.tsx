/** Adds a budget of a window, or changes one. */
import { BUDGET_ROW_MODES, BUDGET_WINDOWS, type BudgetRowMode, type BudgetWindow } from '@acg/base/budget-rows';
import { NativeSelect, TagsInput, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { centsToDollarInput, dollarInputToCents } from '../../format/format.js';
import { BudgetAmountInput } from '../forms/budget-amount-input.js';
import { FormDialog } from '../forms/form-dialog.js';
import { formErrors } from '../forms/server-errors-at-form-fields.js';
import { BUDGET_MODE_LABELS, type BudgetRow, type BudgetRowInput } from './budget-row.js';

const WINDOWS: Readonly<Record<BudgetWindow, string>> = {
  day: 'Day (UTC)',
  week: 'Week (UTC, from Monday)',
  month: 'Month (UTC)',
  total: 'In total',
};
const LABELS = { budgets: 'Budget' };

interface BudgetRowDialogProps {
  /** Null: a new one. */
  readonly row: BudgetRow | BudgetRowInput | null;
  readonly save: (row: BudgetRowInput) => Promise<unknown>;
  readonly onSaved: () => void;
  readonly onClose: () => void;
}

export function BudgetRowDialog({ row, save, onSaved, onClose }: BudgetRowDialogProps) {
  const [window, setWindow] = useState<BudgetWindow>(row?.window ?? 'day');
  const [amount, setAmount] = useState<number | string>(centsToDollarInput(row?.cents ?? null));
  const [mode, setMode] = useState<BudgetRowMode>(row?.mode ?? 'soft');
  const [models, setModels] = useState<string[]>([...(row?.models ?? [])]);
  const [tag, setTag] = useState(row?.tag ?? '');
  const cents = dollarInputToCents(amount);
  const change = useMutation({
    mutationFn: () =>
      save({ window, cents: cents ?? 0, mode, models, ...(tag.trim() === '' ? {} : { tag: tag.trim() }) }),
    onSuccess: onSaved,
  });
  return (
    <FormDialog
      title={row === null ? 'Add budget' : 'Edit budget'}
      errors={formErrors(change.error, LABELS)}
      onSubmit={() => change.mutate()}
      action="Save budget"
      pending={change.isPending}
      disabled={cents === null}
      onClose={onClose}
    >
      <NativeSelect
        label="Window"
        data={BUDGET_WINDOWS.map((value) => ({ value, label: WINDOWS[value] }))}
        value={window}
        onChange={(event) => setWindow(event.currentTarget.value as BudgetWindow)}
      />
      <BudgetAmountInput label="Budget (USD)" value={amount} onChange={setAmount} />
      <NativeSelect
        label="Mode"
        data={BUDGET_ROW_MODES.map((value) => ({ value, label: BUDGET_MODE_LABELS[value] }))}
        value={mode}
        onChange={(event) => setMode(event.currentTarget.value as BudgetRowMode)}
      />
      <TagsInput
        label="Models"
        description="Names or patterns such as gpt-5*. Empty: all models."
        value={models}
        onChange={setModels}
      />
      <TextInput
        label="Tag"
        description="Counts calls with this tag only, as key=value. Tags are the caller’s claim."
        placeholder="customer=acme"
        value={tag}
        onChange={(event) => setTag(event.currentTarget.value)}
      />
    </FormDialog>
  );
}

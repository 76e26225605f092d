/** Input of a budget in US dollars; empty means no budget. */
import { NumberInput, type NumberInputProps } from '@mantine/core';

export const BudgetAmountInput = (input: NumberInputProps) => (
  <NumberInput
    placeholder="No budget"
    prefix="$"
    min={0}
    decimalScale={2}
    thousandSeparator=","
    hideControls
    {...input}
  />
);

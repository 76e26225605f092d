/** A budget in dollars; empty is none. */
import { NumberInput, type NumberInputProps } from '@mantine/core';

export const BudgetInput = (input: NumberInputProps) => (
  <NumberInput placeholder="none" prefix="$" min={0} decimalScale={2} thousandSeparator="," hideControls {...input} />
);

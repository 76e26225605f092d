/** Input of a budget in US dollars; empty means no budget. */
import { NumberInput, type NumberInputProps } from '@mantine/core';
import { useState } from 'react';

const CENT_DIGITS = 2;

export function BudgetAmountInput({ value, onFocus, onBlur, ...input }: NumberInputProps) {
  const [isFocused, setFocused] = useState(false);
  return (
    <NumberInput
      placeholder="No budget"
      prefix="$"
      min={0}
      decimalScale={CENT_DIGITS}
      thousandSeparator=","
      hideControls
      {...input}
      value={(isFocused ? value : withCents(value)) ?? ''}
      onFocus={(event) => {
        setFocused(true);
        onFocus?.(event);
      }}
      onBlur={(event) => {
        setFocused(false);
        onBlur?.(event);
      }}
    />
  );
}

/** `$0.80` instead of `$0.8`. While the user types, digits must not appear. */
const withCents = (value: NumberInputProps['value']): NumberInputProps['value'] =>
  typeof value === 'number' && !Number.isInteger(value) ? value.toFixed(CENT_DIGITS) : value;

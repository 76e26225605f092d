/** Input of budget thresholds in percent. */
import { TagsInput, type TagsInputProps } from '@mantine/core';

const COUNT_MAX = 10;
const PERCENT_MAX = 1_000;

const isPercent = (text: string): boolean => /^[1-9]\d{0,3}$/.test(text) && Number(text) <= PERCENT_MAX;

/** Returns the error text; null: valid. */
export const validateThresholds = (values: readonly string[]): string | null =>
  values.every(isPercent)
    ? null
    : `Enter whole percentages from 1 to ${PERCENT_MAX.toLocaleString('en-US')}, for example 80`;

export const BudgetThresholdInput = ({ value = [], ...props }: TagsInputProps) => (
  <TagsInput
    label="Alert at these percentages of the budget"
    placeholder={value.length === 0 ? '80, 100' : ''}
    maxTags={COUNT_MAX}
    acceptValueOnBlur
    splitChars={[',', ' ', ';']}
    value={value}
    {...props}
  />
);

/** At which percents of a budget somebody is told. */
import { TagsInput, type TagsInputProps } from '@mantine/core';

const COUNT_MAX = 10;
const PERCENT_MAX = 1_000;

const isPercent = (text: string): boolean => /^[1-9]\d{0,3}$/.test(text) && Number(text) <= PERCENT_MAX;

/** What is wrong with them; null: nothing. */
export const validateThresholds = (values: readonly string[]): string | null =>
  values.every(isPercent) ? null : `Whole percents from 1 to ${PERCENT_MAX.toLocaleString('en-US')}, e.g. 80`;

export const BudgetThresholdInput = ({ value = [], ...props }: TagsInputProps) => (
  <TagsInput
    label="Tell us at these percents of it"
    placeholder={value.length === 0 ? '80, 100' : ''}
    maxTags={COUNT_MAX}
    acceptValueOnBlur
    splitChars={[',', ' ', ';']}
    value={value}
    {...props}
  />
);

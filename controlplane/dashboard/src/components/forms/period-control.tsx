/** Selects the period of the figures, up to now. */
import { SegmentedControl } from '@mantine/core';

export const PERIODS = ['24h', '7d', '30d', '90d'] as const;
export type Period = (typeof PERIODS)[number];

/** An address may contain any text; unknown periods become 7 days. */
export const parsePeriod = (text: string): Period => PERIODS.find((period) => period === text) ?? '7d';

interface PeriodControlProps {
  readonly value: Period;
  readonly onChange: (period: Period) => void;
}

export const PeriodControl = ({ value, onChange }: PeriodControlProps) => (
  <SegmentedControl
    aria-label="Period"
    data={[...PERIODS]}
    value={value}
    onChange={(text) => onChange(parsePeriod(text))}
  />
);

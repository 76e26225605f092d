/** Describes the windows of the rate limits and the meaning of an empty field. */
interface Rate {
  readonly unit: string;
  readonly windowText: string;
  readonly label: string;
  readonly default: number | null;
}

export function describeRateLimitFields(rates: readonly Rate[]): string {
  const spans = [...new Set(rates.map(({ windowText }) => `over ${windowText}`))]
    .join(', ')
    .replace(/, (?!.*, )/, ', and ');
  const [defaulted, unlimited] = [true, false].map((has) =>
    listRateNames(rates, (rate) => (rate.default !== null) === has),
  );
  return `Counted ${spans}. If empty: the gateway’s default for ${defaulted}, no limit for ${unlimited}.`;
}

/** The unit, if all of its rates match; otherwise the name of the rate. */
function listRateNames(rates: readonly Rate[], isOne: (rate: Rate) => boolean): string {
  const wholeUnit = (unit: string) => rates.every((rate) => rate.unit !== unit || isOne(rate));
  const named = rates.filter(isOne).map(({ unit, label }) => (wholeUnit(unit) ? unit : label.toLowerCase()));
  return [...new Set(named)].join(' and ');
}

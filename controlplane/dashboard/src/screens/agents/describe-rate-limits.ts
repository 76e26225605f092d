/** What rates are counted over and what an empty field means, in a sentence each. */
interface Rate {
  readonly unit: string;
  readonly windowText: string;
  readonly label: string;
  readonly default: number | null;
}

export function describeRateLimits(rates: readonly Rate[]): string {
  const spans = [...new Set(rates.map(({ windowText }) => `over ${windowText}`))]
    .join(', ')
    .replace(/, (?!.*, )/, ', and ');
  const [defaulted, unlimited] = [true, false].map((has) =>
    listRateNames(rates, (rate) => (rate.default !== null) === has),
  );
  return `O${spans.slice(1)}. Empty: the gateway’s default for ${defaulted}, no limit for ${unlimited}.`;
}

/** The unit, where all of its rates are among them; else the rate's own name. */
function listRateNames(rates: readonly Rate[], isOne: (rate: Rate) => boolean): string {
  const wholeUnit = (unit: string) => rates.every((rate) => rate.unit !== unit || isOne(rate));
  const named = rates.filter(isOne).map(({ unit, label }) => (wholeUnit(unit) ? unit : label.toLowerCase()));
  return [...new Set(named)].join(' and ');
}

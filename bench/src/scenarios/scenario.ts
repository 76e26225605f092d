/** What a scenario is given and what it gives back. */
import type { GatewayStack } from '../gateway-stack.js';
import type { Provider } from '../provider.js';
import type { Chart } from '../report.js';

export interface Bench {
  readonly gateway: GatewayStack;
  readonly provider: Provider;
  /** Until the bound of the whole run. A scenario whose length depends on the machine stays within it. */
  secondsLeft(): number;
}

export interface ScenarioResult {
  /** Goes into the JSON as it is. */
  readonly figures: unknown;
  /** One row per target or reference, for the terminal. */
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  readonly charts: readonly Chart[];
  /** What the reader has to know about these figures: references left out, ratios, bounds that were hit. */
  readonly notes: readonly string[];
}

export interface Scenario {
  readonly name: string;
  readonly title: string;
  run(bench: Bench): Promise<ScenarioResult>;
}

/** For tables: enough digits to compare, no more. */
export function rounded(value: number | null): number | null {
  if (value === null || !Number.isFinite(value)) return null;
  return Math.abs(value) >= 100 ? Math.round(value) : Math.round(value * 10) / 10;
}

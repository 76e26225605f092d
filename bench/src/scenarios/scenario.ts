/** Input and result of a scenario. */
import type { GatewayStack } from '../gateway-stack.js';
import type { Chart } from '../report.js';
import type { Provider } from '../start-mock-provider.js';

export interface Bench {
  readonly gateway: GatewayStack;
  readonly provider: Provider;
  /** Seconds until the bound of the whole run. A scenario of variable length must stay within it. */
  secondsLeft(): number;
}

export interface ScenarioResult {
  /** Copied into the JSON unchanged. */
  readonly figures: unknown;
  /** One row per target or reference, for the terminal. */
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  readonly charts: readonly Chart[];
  /** Notes for the reader: skipped references, ratios, bounds that were reached. */
  readonly notes: readonly string[];
}

export interface Scenario {
  readonly name: string;
  readonly title: string;
  run(bench: Bench): Promise<ScenarioResult>;
}

/** For tables: enough digits for a comparison. */
export function rounded(value: number | null): number | null {
  if (value === null || !Number.isFinite(value)) return null;
  return Math.abs(value) >= 100 ? Math.round(value) : Math.round(value * 10) / 10;
}

/** What the usage and cost reports of a provider say, in one form for all providers. */

/** Token classes that providers bill at prices of their own. */
export const TOKEN_CLASSES = ['input', 'cacheRead', 'cacheWrite', 'cacheWrite1h', 'output'] as const;
export type TokenClass = (typeof TOKEN_CLASSES)[number];
export type TokenCounts = { readonly [Class in TokenClass]: number };
export const mapClasses = (figureOf: (name: TokenClass) => number): TokenCounts =>
  Object.fromEntries(TOKEN_CLASSES.map((name) => [name, figureOf(name)])) as unknown as TokenCounts;
export const addTokens = (a: TokenCounts, b: TokenCounts): TokenCounts => mapClasses((name) => a[name] + b[name]);
export const sumTokens = (tokens: TokenCounts): number => TOKEN_CLASSES.reduce((sum, name) => sum + tokens[name], 0);

/** Usage of one key and model in one hour (or day, where the provider reports days). */
export interface ReportedUsage {
  /** Unix ms of the start of the bucket. */
  readonly startMs: number;
  /** Id of the key at the provider; '' when the provider does not name one. */
  readonly keyId: string;
  readonly model: string;
  readonly tokens: TokenCounts;
  /** Null: the provider does not count requests. */
  readonly requests: number | null;
  /** Cost of exactly this usage in nano-dollars; null: the costs are in {@link ReportedCost}. */
  readonly costNanos: number | null;
}

/** Cost of one day, as far as the provider breaks it down. */
export interface ReportedCost {
  /** Unix ms of UTC midnight. */
  readonly dayMs: number;
  /** The model, or the name of the fee where `tokenClass` is null. */
  readonly model: string;
  /** Null: a fee that is not counted in tokens. */
  readonly tokenClass: TokenClass | null;
  readonly nanos: number;
}

export interface ReportedKey {
  readonly id: string;
  /** The key as the provider shows it, redacted. */
  readonly label: string;
  /** Whether the stored secret is this key. */
  readonly matches: (secret: string) => boolean;
}

export interface ProviderReport {
  readonly keys: readonly ReportedKey[];
  readonly usage: readonly ReportedUsage[];
  readonly costs: readonly ReportedCost[];
}

/** Range of whole UTC days, Unix ms; the end is excluded. */
export interface DayRange {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Model names without date and variant, so that an alias and its dated snapshot are one model. */
export const canonicalModel = (model: string): string =>
  model
    .toLowerCase()
    .replace(/:[a-z0-9-]+$/, '')
    .replace(/-(?:\d{4}-\d{2}-\d{2}|\d{8})$/, '');

/** Matches a secret with its redacted form, e.g. `sk-abc***xyz` or `sk-ant-api03-R2D...igAA`. */
export function matchesRedacted(redacted: string, secret: string): boolean {
  const parts = /^([^*.…]+)[*.…]+([^*.…]+)$/.exec(redacted);
  if (parts === null) return false;
  const [, head, tail] = parts as unknown as [string, string, string];
  return secret.length > head.length + tail.length && secret.startsWith(head) && secret.endsWith(tail);
}

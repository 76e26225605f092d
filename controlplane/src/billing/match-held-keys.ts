/**
 * Matches the credentials of accounts with the keys of a provider's report. Providers show keys redacted, so several keys
 * can have one label. Where the report tells them apart (OpenRouter: by hash), keys that no account holds get their id
 * beside the label. Where it does not, the label is ambiguous. Pure.
 */
import type { ReportedKey } from './report/provider-report.js';

interface Holder {
  readonly accountId: string;
  /** Values of its credentials. */
  readonly secrets: readonly string[];
  /** Since when the account holds them; null: since its creation. */
  readonly rotatedAt: Date | null;
}

/** The provider's key of an account, by its label; null: the provider does not list it. */
export interface HeldKey {
  readonly accountId: string;
  readonly keyLabel: string | null;
  readonly rotatedAt: Date | null;
}

interface MatchedKeys {
  /** Each id once. */
  readonly keys: readonly ReportedKey[];
  readonly held: readonly HeldKey[];
  /** Labels of held keys that keys of others have, too. */
  readonly ambiguousLabels: ReadonlySet<string>;
}

export function matchHeldKeys(reported: readonly ReportedKey[], holders: readonly Holder[]): MatchedKeys {
  const byLabel = new Map<string, ReportedKey[]>();
  for (const key of new Map(reported.map((key) => [key.id, key])).values()) {
    const sameLabel = byLabel.get(key.label);
    if (sameLabel === undefined) byLabel.set(key.label, [key]);
    else sameLabel.push(key);
  }
  const secrets = new Set(holders.flatMap((holder) => holder.secrets));
  const keys: ReportedKey[] = [];
  const ambiguousLabels = new Set<string>();
  for (const [label, sameLabel] of byLabel) {
    if (sameLabel.length === 1) {
      keys.push(...sameLabel);
      continue;
    }
    const matching = new Set<string>();
    let mayBeHeld = 0;
    for (const key of sameLabel) {
      const own = [...secrets].filter(key.matches);
      for (const secret of own) matching.add(secret);
      if (own.length > 0) mayBeHeld++;
      keys.push(own.length > 0 ? key : { ...key, label: `${label} (${key.id})` });
    }
    if (mayBeHeld > matching.size) ambiguousLabels.add(label);
  }
  const held = holders.map(({ accountId, secrets: own, rotatedAt }): HeldKey => {
    const key = keys.find(({ matches }) => own.some(matches));
    return { accountId, keyLabel: key?.label ?? null, rotatedAt };
  });
  return { keys, held, ambiguousLabels };
}

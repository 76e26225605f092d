/**
 * The hosts that provider definitions can reach. No two provider files may reach the same host, and no tenant's
 * definition one of a provider file. Pure.
 */
import type { CredentialField, ProviderRules } from './provider-definition.js';

/** A host with `*` for each part that an account decides. */
export type HostPattern = string;

/** A dot at the end names the same host. */
const ROOT_DOT = /\.$/;

/** The address with each value of each enumerated field. */
export function expandEnumerations(address: string, fields: readonly CredentialField[]): string[] {
  let addresses = [address];
  for (const { name, values } of fields) {
    if (values === undefined || !address.includes(`{${name}}`)) continue;
    addresses = addresses.flatMap((one) => values.map((value) => one.replaceAll(`{${name}}`, value)));
  }
  return addresses;
}

/** Every host that an account may reach at this definition, apart from addresses that a tenant enters. */
export function listHostPatterns({
  origins,
  credentials: { fields },
}: Pick<ProviderRules, 'origins' | 'credentials'>): HostPattern[] {
  const addresses = Object.values(origins).flatMap((origin) =>
    typeof origin === 'string' ? origin : origin.map(({ url }) => url),
  );
  const patterns = addresses
    .filter((address) => !address.startsWith('{'))
    .flatMap((address) => expandEnumerations(address, fields))
    .map((address) =>
      address
        .slice(address.indexOf('//') + 2)
        .replaceAll(/\{[A-Za-z0-9]+\}/g, '*')
        .replace(/:\d+$/, '')
        .replace(ROOT_DOT, ''),
    );
  return [...new Set(patterns)];
}

/** Whether a host may match both patterns. A field is a part of one label, so label counts must agree. */
export function hostPatternsOverlap(one: HostPattern, other: HostPattern): boolean {
  const labels = one.split('.');
  const others = other.split('.');
  return labels.length === others.length && labels.every((label, i) => labelsOverlap(label, others[i]!));
}

/** Compares the literal ends. Two patterns whose ends agree count as overlapping. */
function labelsOverlap(one: string, other: string): boolean {
  const isLiteral = !one.includes('*');
  if (isLiteral && !other.includes('*')) return one === other;
  const [prefix, suffix] = literalEnds(one);
  const [otherPrefix, otherSuffix] = literalEnds(other);
  const prefixesAgree = prefix.startsWith(otherPrefix) || otherPrefix.startsWith(prefix);
  const suffixesAgree = suffix.endsWith(otherSuffix) || otherSuffix.endsWith(suffix);
  return prefixesAgree && suffixesAgree;
}

const literalEnds = (label: string): readonly [string, string] =>
  label.includes('*') ? [label.slice(0, label.indexOf('*')), label.slice(label.lastIndexOf('*') + 1)] : [label, label];

/** Whether a literal host matches one of the patterns. */
export const isClaimedHost = (host: string, patterns: readonly HostPattern[]): boolean =>
  patterns.some((pattern) => hostPatternsOverlap(pattern, host.replace(ROOT_DOT, '')));

/**
 * The breakers that an organization's calls pass through, as the organization may see them. Shows nothing about other
 * organizations.
 */
import { type Static, Type } from 'typebox';
import type { CircuitStateName } from '../breaker/breaker-state-machine.js';
import type { CircuitReason } from '../breaker/circuit-store.js';
import { formatOriginKey, parseCircuitKey } from '../breaker/provider-origin-org-circuit-key.js';
import type { Sql } from '../db/postgres-client.js';
import { type ListResult, type Page, PageQuery, PageReply } from '../http/limit-offset-pagination.js';
import type { Catalogue } from './catalogue/catalogue.js';
import type { Provider } from './catalogue/provider.js';
import * as store from './circuit-view-store.js';
import { toProvider } from './custom/custom-provider.js';
import { CUSTOM_PROVIDERS_MAX, listProviders } from './custom/custom-provider-store.js';
import { fixedOriginsOf } from './fleet-origins.js';

const STATES: readonly CircuitStateName[] = ['CLOSED', 'HALF_OPEN', 'OPEN'];
const State = Type.Unsafe<CircuitStateName>({ type: 'string', enum: STATES });
const REASONS: readonly CircuitReason[] = ['error_rate', 'probe_failed', 'connect', 'held'];
const Reason = Type.Unsafe<CircuitReason | null>({
  anyOf: [{ type: 'string', enum: REASONS }, { type: 'null' }],
  description:
    'Why it is open: calls of the organization failed (error_rate), a probe after the cooldown failed (probe_failed), the ' +
    'gateway cannot connect to the provider (connect), or a member holds it open (held). Null unless OPEN.',
});
const nullable = (description: string) =>
  Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'date-time', description });

const CircuitView = Type.Object({
  providerSlug: Type.String(),
  displayName: Type.String(),
  builtIn: Type.Boolean(),
  origin: Type.String({ description: 'scheme://host[:port] of the provider.' }),
  state: State,
  reason: Reason,
  since: nullable('Of this state; null: it has never been another.'),
  nextProbeAt: nullable('When the cooldown or the hold ends; null unless OPEN, and where the gateway cannot connect.'),
  accounts: Type.Integer({ description: 'Number of the organization’s accounts at this origin.' }),
});
export type CircuitView = Static<typeof CircuitView>;
export const CircuitReply = Type.Object({ circuit: CircuitView });
export const CircuitQuery = Type.Object({ ...PageQuery, state: Type.Optional(State) });
export const CircuitList = Type.Object({ circuits: Type.Array(CircuitView), ...PageReply });

interface CircuitFilter {
  /** Null for all states. */
  readonly states: readonly CircuitStateName[] | null;
  /** Null for all providers. */
  readonly providerSlug: string | null;
}

const fixedOriginKeys = (provider: Provider): string[] =>
  fixedOriginsOf(provider).map((origin) => formatOriginKey({ providerSlug: provider.slug, origin }));

export async function listCircuits(
  sql: Sql,
  catalogue: Catalogue,
  orgId: string,
  filter: CircuitFilter,
  page: Page,
): Promise<ListResult<CircuitView>> {
  const fixed = catalogue.providers.flatMap((provider) =>
    fixedOriginKeys(provider).map((key) => ({ slug: provider.slug, key })),
  );
  const fixedDefaults = catalogue.providers
    .filter((provider) => provider.fixedAddress() !== null)
    .map(({ slug }) => slug);
  const custom = await listProviders(sql, orgId, { limit: CUSTOM_PROVIDERS_MAX, offset: 0 });
  const own = custom.rows.flatMap((row) =>
    fixedOriginKeys(toProvider(row, catalogue.presetCalls)).map((key) => ({ id: row.id, key })),
  );
  const { rows, total } = await store.listOrgCircuits(sql, { orgId, fixed, fixedDefaults, own, ...filter }, page);
  const names = new Map(custom.rows.map(({ slug, displayName }) => [slug, displayName]));
  return {
    rows: rows.map(({ originKey: key, since, openUntil, ...row }) => ({
      ...row,
      displayName: names.get(row.providerSlug) ?? catalogue.get(row.providerSlug)?.displayName ?? row.providerSlug,
      builtIn: !names.has(row.providerSlug),
      origin: parseCircuitKey(key)?.origin ?? '',
      since: since?.toISOString() ?? null,
      nextProbeAt: row.state === 'OPEN' ? (openUntil?.toISOString() ?? null) : null,
    })),
    total,
  };
}

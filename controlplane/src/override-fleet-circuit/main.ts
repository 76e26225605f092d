/**
 * `npm run fleet-circuit -- openai close 2h`: overrides the fleet-wide breaker of a built-in provider, while the
 * gateway runs (docs/operations.md). `open` rejects the calls of all organizations; `close` lets them pass regardless
 * of failures. Each lasts at most a day; `release` ends it.
 */
import { ConfigError, EnvReader } from '@acg/base/env-reader';
import { createLogger, maskSecrets } from '@acg/base/log';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '@acg/base/time-and-money-units';
import { BreakerTransitionWriter } from '../breaker/breaker-transition-writer.js';
import { FleetBreakers } from '../breaker/fleet-unreachability-breakers.js';
import { readCircuitConfig } from '../config.js';
import { readDatabaseUrl } from '../db/database-url.js';
import { openPool } from '../db/postgres-client.js';
import { loadCatalogue } from '../providers/catalogue/catalogue.js';
import { listFleetOrigins } from '../providers/fleet-origins.js';

const EXIT_USAGE = 64;
const EXIT_CONFIG = 78;
const EXIT_UNAVAILABLE = 69;
const USAGE =
  'usage: fleet-circuit <provider> open|close [30m|2h] (default 1h, at most 24h), or fleet-circuit <provider> release';
const UNITS_MS: Readonly<Record<string, number>> = { m: MINUTE_MS, h: HOUR_MS };

/** The requested override; `overrideMs` 0 ends it. */
interface BreakerOverride {
  readonly providerSlug: string;
  readonly state: 'OPEN' | 'CLOSED';
  readonly overrideMs: number;
}

/** Null: invalid arguments. */
function parseOverride([providerSlug, verb, span = '1h', ...rest]: readonly string[]): BreakerOverride | null {
  if (providerSlug === undefined || rest.length > 0) return null;
  if (verb === 'release') return { providerSlug, state: 'CLOSED', overrideMs: 0 };
  const [, amount, unit] = /^(\d{1,4})([mh])$/.exec(span) ?? [];
  const overrideMs = Number(amount ?? 0) * (UNITS_MS[unit ?? ''] ?? 0);
  if ((verb !== 'open' && verb !== 'close') || overrideMs === 0 || overrideMs > DAY_MS) return null;
  return { providerSlug, state: verb === 'open' ? 'OPEN' : 'CLOSED', overrideMs: overrideMs };
}

async function applyOverride({ providerSlug, state, overrideMs }: BreakerOverride): Promise<void> {
  const read = new EnvReader(process.env);
  const url = readDatabaseUrl(read, 'the postgres:// URL of the running gateway');
  const catalogue = loadCatalogue(read.optional('PROVIDERS_FILE'), read.optional('PROVIDERS_DIR'));
  const rules = readCircuitConfig(read);
  read.throwIfInvalid();
  const sql = openPool(url, { connectionsMax: 1, applicationName: 'acg-fleet-circuit' });
  try {
    const origins = listFleetOrigins(catalogue);
    const fleet = new FleetBreakers(
      sql,
      new BreakerTransitionWriter(rules, createLogger('fleet-circuit', 'warn')),
      origins,
    );
    if (!(await fleet.override(providerSlug, state, overrideMs))) {
      const providerSlugs = [...new Set(origins.map((origin) => origin.providerSlug))].join(', ');
      process.stderr.write(`fleet-circuit: ${providerSlug} has no fleet-wide breaker. Use one of: ${providerSlugs}\n`);
      process.exitCode = EXIT_USAGE;
      return;
    }
    const until = new Date(Date.now() + overrideMs).toISOString();
    const effect = state === 'OPEN' ? 'rejected' : 'allowed, regardless of failures,';
    const outcome = overrideMs === 0 ? 'are decided by the breaker again' : `are ${effect} until ${until}`;
    process.stdout.write(`calls to ${providerSlug} ${outcome}\n`);
  } finally {
    await sql.end({ timeout: 5 });
  }
}

const override = parseOverride(process.argv.slice(2));
if (override === null) {
  process.stderr.write(`fleet-circuit: ${USAGE}\n`);
  process.exitCode = EXIT_USAGE;
} else {
  try {
    await applyOverride(override);
  } catch (error) {
    const problems = error instanceof ConfigError ? error.problems : [(error as Error).message];
    for (const problem of problems) process.stderr.write(`fleet-circuit: ${maskSecrets(problem)}\n`);
    process.exitCode = error instanceof ConfigError ? EXIT_CONFIG : EXIT_UNAVAILABLE;
  }
}

/**
 * Every sweep that deletes old rows, read from the sources of the control plane: a row one minute past its retention is
 * deleted, a row with a minute left stays.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createLogger } from '@acg/base/log';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '@acg/base/time-and-money-units';
import { pruneAlerts } from '@acg/controlplane/alert-rules/store';
import { pruneAuditEntries } from '@acg/controlplane/audit/audit-list-and-prune-store';
import { pruneDeviceLogins } from '@acg/controlplane/auth/device-login/device-store';
import { pruneSessions } from '@acg/controlplane/auth/sessions/session-store';
import { pruneEmailTokens } from '@acg/controlplane/auth/users/user-and-membership-store';
import { pruneCircuits } from '@acg/controlplane/breaker/circuit-store';
import { pruneOriginContacts } from '@acg/controlplane/breaker/fleet-unreachability-breakers';
import { pruneConnects } from '@acg/controlplane/connections/connection-store';
import { OrganizationGrants } from '@acg/controlplane/data-planes/organization-grants';
import type { Sql } from '@acg/controlplane/db/postgres-client';
import { deleteOldAbuseCounts } from '@acg/controlplane/detectors/abuse-event-detector';
import { pruneQueuedEvents } from '@acg/controlplane/event-mail/store';
import { deleteOldEvents } from '@acg/controlplane/events/event-retention';
import { pruneStoredResponses } from '@acg/controlplane/idempotency/stored-responses';
import { pruneKeys } from '@acg/controlplane/issuer/issuer-key-store';
import { UsageRetention } from '@acg/controlplane/ledger/usage-retention';
import { pruneInvitations } from '@acg/controlplane/members/store';
import { pruneClients } from '@acg/controlplane/minting/oauth-client-store';
import { pruneDeletions } from '@acg/controlplane/orgs/deletion-store';
import { pruneSsoLogins } from '@acg/controlplane/sso/store';
import { Throttle } from '@acg/controlplane/throttling/throttle';
import { pruneRuleKeys } from '@acg/controlplane/trust-rules/store';
import { registerDataPlane } from '@acg/controlplane/watch/data-plane-registrations';
import { deleteOldInvalidations } from '@acg/controlplane/watch/invalidation-feed';
import { expect, test } from 'vitest';
import { holdPostgresLock } from '../fixtures/hold-postgres-lock.js';
import { useTestDatabase } from '../fixtures/test-database.js';
import { waitUntil } from '../fixtures/wait-until.js';

const database = useTestDatabase();
const SOURCES = fileURLToPath(new URL('../../../controlplane/src', import.meta.url));
const AUDIT_DAYS = 400;
const WINDOW_MS = 30_000;

interface SweepCase {
  readonly sweep: (sql: Sql) => Promise<unknown>;
  /** Column with the row's age or expiry. */
  readonly column: string;
  /** Retention in ms; 0 when the column is an expiry. */
  readonly keptMs: number;
  /** Other columns without a default. Foreign keys are not checked. */
  readonly row: () => Readonly<Record<string, unknown>>;
}

const uuid = randomUUID;
const bytes = () => randomBytes(32);
const text = () => randomBytes(8).toString('hex');
const sealed = () => ({ key_id: 'k', nonce: bytes(), ciphertext: bytes() });
const json = (sql: Sql) => sql.json({});
const throttle = (sql: Sql) => new Throttle(sql).prune();
const usage = (sql: Sql, rollups: number | null = null) =>
  new UsageRetention(sql, { logs: 1, rejections: 400, rollups }, createLogger('test', 'silent')).deleteExpiredUsage(
    Date.now(),
  );

const SUMS = [
  'tokens_in_uncached',
  'tokens_cache_read',
  'tokens_cache_write',
  'tokens_out',
  'tokens_reasoning',
  'cost_nanos',
];

/** By file and table. */
const SWEEP_CASES: Readonly<Record<string, SweepCase>> = {
  'audit/audit-list-and-prune-store.ts audit_entries': {
    sweep: (sql) => pruneAuditEntries(sql, AUDIT_DAYS),
    column: 'at',
    keptMs: AUDIT_DAYS * DAY_MS,
    row: () => ({
      ...{ id: uuid(), org_id: uuid(), actor_email: 'a', action: 'a', target_type: 'a', target_id: 'a', ip: 'a' },
      changes: json(database().sql),
    }),
  },
  'auth/device-login/device-store.ts device_logins': {
    sweep: pruneDeviceLogins,
    column: 'expires_at',
    keptMs: 0,
    row: () => ({
      ...{ id: uuid(), device_code_hash: bytes(), user_code_hash: bytes() },
      ...{ client: 'a', hostname: 'a', ip: 'a' },
    }),
  },
  'idempotency/stored-responses.ts idempotency_keys': {
    sweep: pruneStoredResponses,
    column: 'created_at',
    keptMs: DAY_MS,
    row: () => ({
      ...{ org_id: uuid(), actor_id: uuid(), key_hash: bytes(), salt: bytes(), fingerprint: bytes() },
      ...{ secret_hashes: '{}', status: 200, body: '{}' },
    }),
  },
  'auth/sessions/session-store.ts sessions': {
    sweep: pruneSessions,
    column: 'expires_at',
    keptMs: 7 * DAY_MS, // it may be refreshed so long
    row: () => ({ id: uuid(), user_id: uuid(), kind: 'api', ip: 'a', user_agent: 'a' }),
  },
  'auth/users/user-and-membership-store.ts email_tokens': {
    sweep: pruneEmailTokens,
    column: 'expires_at',
    keptMs: 0,
    row: () => ({ token_hash: bytes(), user_id: uuid(), purpose: 'reset' }),
  },
  'sso/store.ts sso_logins': {
    sweep: pruneSsoLogins,
    column: 'expires_at',
    keptMs: 0,
    row: () => ({ state_hash: bytes(), org_id: uuid(), browser_hash: bytes(), nonce: 'n', code_verifier: 'v' }),
  },
  'sso/store.ts sso_links': {
    sweep: pruneSsoLogins,
    column: 'expires_at',
    keptMs: 0,
    row: () => ({ browser_hash: bytes(), org_id: uuid(), issuer: 'i', subject: 's', user_id: uuid() }),
  },
  'throttling/throttle.ts throttle_marks': {
    sweep: throttle,
    column: 'expires_at',
    keptMs: 0,
    row: () => ({ key: text(), marked_at: '{}' }),
  },
  'throttling/throttle.ts throttle_windows': {
    sweep: throttle,
    column: 'expires_at',
    keptMs: 0,
    row: () => ({ key: text(), count: 1 }),
  },
  'breaker/fleet-unreachability-breakers.ts origin_contacts': {
    sweep: pruneOriginContacts,
    column: 'contact_at',
    keptMs: HOUR_MS,
    row: () => ({ data_plane_id: text(), origin: text(), unreachable: false }),
  },
  'breaker/circuit-store.ts circuit_outcomes': {
    sweep: (sql) => pruneCircuits(sql, WINDOW_MS),
    column: 'second',
    keptMs: 2 * WINDOW_MS,
    row: () => ({ circuit_key: text(), epoch: 1, org_id: uuid(), writer: uuid(), requests: 1, failures: 1 }),
  },
  'breaker/circuit-store.ts circuit_probes': {
    sweep: (sql) => pruneCircuits(sql, WINDOW_MS),
    column: 'expires_at',
    keptMs: HOUR_MS,
    row: () => ({ lease: uuid(), circuit_key: text(), epoch: 1, data_plane_id: 'd' }),
  },
  'detectors/abuse-event-detector.ts abuse_addresses': {
    sweep: deleteOldAbuseCounts,
    column: 'seen_at',
    keptMs: 10 * MINUTE_MS,
    row: () => ({ key_id: uuid(), address_hash: bytes() }),
  },
  'detectors/abuse-event-detector.ts abuse_counts': {
    sweep: deleteOldAbuseCounts,
    column: 'minute',
    keptMs: 15 * MINUTE_MS,
    row: () => ({ agent_id: uuid(), reason: 'rejections', count: 1 }),
  },
  'event-mail/store.ts event_mail_queue': {
    sweep: pruneQueuedEvents,
    column: 'occurred_at',
    keptMs: DAY_MS,
    row: () => ({ org_id: uuid(), user_id: uuid(), event_id: uuid(), event: 'e', data: json(database().sql) }),
  },
  'events/event-retention.ts event_facts': {
    sweep: deleteOldEvents,
    column: 'at',
    keptMs: 62 * DAY_MS,
    row: () => ({ fact: text() }),
  },
  'events/event-retention.ts events': {
    sweep: deleteOldEvents,
    column: 'fanned_out_at',
    keptMs: 30 * DAY_MS,
    row: () => ({ id: uuid(), org_id: uuid(), event: 'e', data: json(database().sql) }),
  },
  'events/event-retention.ts webhook_deliveries': {
    sweep: deleteOldEvents,
    column: 'created_at',
    keptMs: 30 * DAY_MS,
    row: () => ({ id: uuid(), endpoint_id: uuid(), org_id: uuid(), event_id: uuid(), event: 'e', payload: '{}' }),
  },
  'events/event-retention.ts webhook_previous_secrets': {
    sweep: deleteOldEvents,
    column: 'until',
    keptMs: 0,
    row: () => ({ id: uuid(), org_id: uuid(), ...sealed() }),
  },
  'ledger/lost-commit-detection.ts ledger_marks': {
    sweep: async (sql) => {
      await sql`insert into ledger_marks default values`; // the newest stays regardless of its age
      await usage(sql);
    },
    column: 'at',
    keptMs: 2 * HOUR_MS,
    row: () => ({ mark: uuid() }),
  },
  'ledger/usage-retention.ts booked_counts': {
    sweep: (sql) => usage(sql),
    column: 'booked_at',
    keptMs: 2 * DAY_MS,
    row: () => ({ id: uuid() }),
  },
  'ledger/usage-retention.ts line_sums': {
    sweep: (sql) => usage(sql),
    column: 'at',
    keptMs: 7 * DAY_MS,
    row: () => ({
      ...{ record_id: uuid(), tokens_in_uncached: 0, tokens_cache_read: 0, tokens_cache_write: 0 },
      ...{ tokens_out: 0, tokens_reasoning: 0, cost_nanos: 0 },
    }),
  },
  'members/store.ts invitations': {
    sweep: pruneInvitations,
    column: 'expires_at',
    keptMs: 0,
    row: () => ({ id: uuid(), org_id: uuid(), email: text(), role: 'viewer', token_hash: bytes() }),
  },
  'orgs/deletion-store.ts organization_deletions': {
    sweep: (sql) => pruneDeletions(sql, AUDIT_DAYS),
    column: 'requested_at',
    keptMs: AUDIT_DAYS * DAY_MS,
    row: () => ({
      ...{ id: uuid(), org_id: uuid(), name: 'n', slug: 's', requested_by: uuid(), requested_by_email: text(), ip: '' },
      ...{ owner_ids: [], purge_at: new Date(0), purged_at: new Date(0) },
    }),
  },
  'watch/invalidation-feed.ts invalidations': {
    sweep: async (sql) => {
      // The newest thousand stay regardless of their age.
      await sql`insert into invalidations (kind, id) select 'key', 'newer' from generate_series(1, 1001)`;
      await deleteOldInvalidations(sql, HOUR_MS);
    },
    column: 'at',
    keptMs: HOUR_MS,
    row: () => ({ kind: 'key', id: text() }),
  },
  'alert-rules/store.ts alerts': {
    sweep: pruneAlerts,
    column: 'resolved_at',
    keptMs: 90 * DAY_MS,
    row: () => ({ id: uuid(), org_id: uuid(), rule_id: uuid(), value: 1 }),
  },
  'connections/connection-store.ts oauth_connects': {
    sweep: pruneConnects,
    column: 'expires_at',
    keptMs: 0,
    row: () => ({
      ...{ state_hash: bytes(), org_id: uuid(), user_id: uuid(), browser_hash: bytes() },
      ...{ code_verifier: 'v', redirect_uri: 'u' },
    }),
  },
  'issuer/issuer-key-store.ts issuer_keys': {
    // A key goes a day after its successor began to sign.
    async sweep(sql) {
      await sql.begin(async (tx) => {
        await tx`set local session_replication_role = replica`;
        await tx`
        insert into issuer_keys (id, org_id, public_jwk, key_id, nonce, ciphertext, active_from)
        select gen_random_uuid(), org_id, '{}', 'k', '', '', active_from + interval '1 millisecond' from issuer_keys`;
      });
      await pruneKeys(sql);
    },
    column: 'active_from',
    keptMs: DAY_MS,
    row: () => ({ id: uuid(), org_id: uuid(), public_jwk: '{}', key_id: 'k', nonce: bytes(), ciphertext: bytes() }),
  },
  'minting/oauth-client-store.ts oauth_clients': {
    sweep: pruneClients,
    column: 'created_at',
    keptMs: DAY_MS,
    row: () => ({
      ...{ id: uuid(), org_id: uuid(), issuer: 'i', redirect_uri: 'u', client_id: 'c', authentication: 'basic' },
      ...sealed(),
    }),
  },
  'trust-rules/store.ts trust_rule_keys': {
    sweep: pruneRuleKeys,
    column: 'expires_at',
    keptMs: 0,
    row: () => ({ token_hash: bytes(), rule_id: uuid() }),
  },
  'trust-rules/store.ts trust_rule_used_tokens': {
    sweep: pruneRuleKeys,
    column: 'expires_at',
    keptMs: 0,
    row: () => ({ rule_id: uuid(), jti_hash: bytes() }),
  },
  'data-planes/organization-grants.ts data_plane_organizations': {
    sweep: (sql) => new OrganizationGrants(sql, true).deleteOld(),
    column: 'granted_at',
    keptMs: 90 * DAY_MS,
    row: () => ({ identity: text(), data_plane_id: '', org_id: uuid() }),
  },
  'watch/data-plane-registrations.ts data_planes': {
    sweep: (sql) =>
      registerDataPlane(sql, {
        ...{ id: 'd', identity: '', counters: 'redis', counterLayout: 2, version: 'v' },
        ...{ controlPlaneId: 'c', connectionId: uuid() },
      }),
    column: 'seen_at',
    keptMs: 6_000,
    row: () => ({ id: text(), counters: 'redis', control_plane_id: 'c', connection_id: uuid(), version: 'v' }),
  },
};

test('sweeps: every statement that deletes old rows is listed here', () => {
  const files = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' });
  const found = files
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .flatMap((file) => {
      const statements = readFileSync(join(SOURCES, file), 'utf8').matchAll(/delete from (\S+)((?:(?!`;)[\s\S])*)/g);
      return [...statements].filter(([, , rest]) => /< now\(\)/.test(rest!)).map(([, table]) => `${file} ${table}`);
    });
  // One statement for two tables.
  const throttled = (name: string): readonly string[] =>
    name.startsWith('throttling/throttle.ts')
      ? Object.keys(SWEEP_CASES).filter((known) => known.startsWith('throttling/throttle.ts'))
      : [name];
  expect(found.flatMap(throttled).sort()).toEqual(Object.keys(SWEEP_CASES).sort());
});

test.each(Object.entries(SWEEP_CASES))(
  'sweeps: %s keeps what has a minute left, and nothing else',
  async (name, entry) => {
    const { sql } = database();
    const { column, keptMs, row, sweep } = entry;
    const table = name.split(' ')[1]!;
    const insert = async (agoMs: number): Promise<string> => {
      const [made] = await sql.begin(async (tx) => {
        await tx`set local session_replication_role = replica`;
        return tx`insert into ${tx(table)} ${tx({ ...row(), [column]: new Date(Date.now() - agoMs) })} returning ctid::text`;
      });
      return made!.ctid as string;
    };
    const over = await insert(keptMs + MINUTE_MS);
    const fresh = await insert(keptMs - MINUTE_MS);
    await sweep(sql);
    const left = await sql`select ctid::text from ${sql(table)} where ctid = any(${[over, fresh]}::tid[])`;
    expect(left.map(({ ctid }) => ctid)).toEqual([fresh]);
  },
);

test.each([
  ['booked_counts', 'booked_at', 'id'],
  ['line_sums', 'at', 'record_id'],
])('%s: a backlog goes in one sweep, and no statement has it all to do', async (table, column, id) => {
  const { sql } = database();
  const others = table === 'line_sums' ? ', ' + SUMS.join(', ') : '';
  const zeros = table === 'line_sums' ? ', 0'.repeat(SUMS.length) : '';
  await sql.unsafe(`
    insert into ${table} (${id}, ${column}${others})
    select gen_random_uuid(), now() - interval '30 days'${zeros} from generate_series(1, 25000);
    create function refuse_large() returns trigger language plpgsql as $$
      begin
        if (select count(*) from gone) > 10000 then raise exception 'too much for one statement'; end if;
        return null;
      end $$;
    create trigger small after delete on ${table} referencing old table as gone
      for each statement execute function refuse_large()`);
  await usage(sql);
  expect((await sql.unsafe(`select 1 from ${table} where ${column} < now() - interval '29 days'`)).length).toBe(0);
  await sql.unsafe(`drop trigger small on ${table}; drop function refuse_large()`);
});

test('sweeps: one sweep deletes as many stored responses as many organizations create between two sweeps', async () => {
  const { sql } = database();
  await sql`
    with org as (insert into organizations (id, name, slug) values (${uuid()}, 'Org', ${text()}) returning id)
    insert into idempotency_keys (org_id, actor_id, key_hash, salt, fingerprint, secret_hashes, status, body, created_at)
    select id, id, int4send(n), '', '', '{}', 201, '', now() - interval '25 hours' from org, generate_series(1, 25000) n`;
  const held = sql`key_hash = int4send(7)`;
  const release = await holdPostgresLock(sql, (tx) => tx`select 1 from idempotency_keys where ${held} for update`);
  await pruneStoredResponses(sql); // does not wait for locked rows, for example those of another control plane's sweep
  await release();
  expect(
    await sql`select 1 from idempotency_keys where created_at < now() - interval '24 hours' and not ${held}`,
  ).toEqual([]);
  await pruneStoredResponses(sql);
  expect(await sql`select 1 from idempotency_keys where ${held}`).toEqual([]);
});

test('sweeps: one sweep deletes a backlog of alerts', async () => {
  const { sql } = database();
  await sql.begin(async (tx) => {
    await tx`set local session_replication_role = replica`;
    await tx`
      insert into alerts (id, org_id, rule_id, value, resolved_at)
      select gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 1, now() - interval '91 days'
        from generate_series(1, 5000)`;
  });
  await pruneAlerts(sql);
  expect(await sql`select 1 from alerts where resolved_at < now() - interval '90 days'`).toEqual([]);
});

test('sweeps: expired rows are deleted first, even when counting deliveries per endpoint is slow', async () => {
  const { sql } = database();
  await sql`
    with org as (insert into organizations (id, name, slug) values (${uuid()}, 'Org', ${text()}) returning id)
    insert into events (id, org_id, event, data, fanned_out_at)
    select ${uuid()}, id, 'old', '{}', now() - interval '31 days' from org`;
  const release = await holdPostgresLock(sql, (tx) => tx`lock webhook_endpoints in access exclusive mode`);
  const swept = deleteOldEvents(sql);
  await waitUntil(
    'the old event is gone',
    async () => (await sql`select 1 from events where event = 'old'`).length === 0,
  );
  await release();
  await swept;
});

test('sweeps: rollups and spend stay for ever, unless ROLLUP_RETENTION_DAYS is set: then for that time', async () => {
  const { sql } = database();
  const dayOf = (daysAgo: number): Date => new Date(Math.floor(Date.now() / DAY_MS - daysAgo) * DAY_MS);
  const monthOf = (daysAgo: number): string => dayOf(daysAgo).toISOString().slice(0, 7);
  const [KEPT, OLD] = [499, 532]; // days; 32 days: also another month
  const sums = { requests: 1, errors: 0, tokens_in: 0, tokens_out: 0, cost_nanos: 1 };
  const sketch = { duration_ms_sum: 0, latency_sketch: bytes() };
  const spend = { spent_nanos: 1, ledger_nanos: 0 };
  const tables: Readonly<Record<string, (daysAgo: number) => Record<string, unknown>>> = {
    usage_daily: (daysAgo) => ({
      ...{ agent_id: uuid(), day: dayOf(daysAgo), provider_slug: 'p', model: '', key_id: uuid(), org_id: uuid() },
      ...{ project_id: uuid(), ...sums, ...sketch },
    }),
    usage_daily_by: (daysAgo) => ({
      ...{
        org_id: uuid(),
        dimension: 'model',
        day: dayOf(daysAgo),
        project_id: uuid(),
        value: 'm',
        ...sums,
        ...sketch,
      },
    }),
    month_spend: (daysAgo) => ({ agent_id: uuid(), month: monthOf(daysAgo), org_id: uuid(), ...spend }),
    scope_spend: (daysAgo) => ({ scope: 'org', scope_id: uuid(), month: monthOf(daysAgo), ...spend }),
    scope_spend_slots: (daysAgo) => ({ scope: 'org', scope_id: uuid(), month: monthOf(daysAgo), slot: 1, ...spend }),
  };
  const count = async (table: string): Promise<number> => (await sql`select 1 from ${sql(table)}`).length;
  for (const [table, row] of Object.entries(tables)) {
    for (const daysAgo of [KEPT, OLD]) await sql`insert into ${sql(table)} ${sql(row(daysAgo))}`;
  }
  await usage(sql);
  for (const table of Object.keys(tables)) expect([table, await count(table)]).toEqual([table, 2]);
  await usage(sql, 500);
  for (const table of Object.keys(tables)) expect([table, await count(table)]).toEqual([table, 1]);
});

test('sweeps: spend of a cell goes 40 days after its window, except that of rows of all time and of runs that exist', async () => {
  const { sql } = database();
  const [orgId, month, total, run] = [uuid(), uuid(), uuid(), uuid()];
  await sql.begin(async (tx) => {
    await tx`set local session_replication_role = replica`;
    for (const [id, window] of [
      [month, 'month'],
      [total, 'total'],
    ] as const)
      await tx`insert into budgets (id, org_id, time_window, cents, mode) values (${id}, ${orgId}, ${window}, 1, 'hard')`;
    await tx`
      insert into runs (id, org_id, agent_id, root_id, ancestors, budget_cents, token_hash, key_prefix, created_at, expires_at)
      values (${run}, ${orgId}, ${uuid()}, ${run}, '{}', 1, ${bytes()}, 'acg_', now(), now() + interval '1 day')`;
    for (const days of [39, 41])
      for (const [id, period] of [
        [month, '2026-01'],
        [total, '2026-01'],
        [uuid(), '2026-01'],
        [run, 'total'],
        [uuid(), 'total'],
      ])
        await tx`
          insert into cell_spend (org_id, budget_id, period, cell, slot, spent_nanos, updated_at)
          values (${orgId}, ${id!}, ${period!}, ${`c${days}`}, 0, 1, now() - make_interval(days => ${days}))`;
  });
  await usage(sql);
  const kept = await sql<{ id: string; cell: string }[]>`
    select budget_id as id, cell from cell_spend where org_id = ${orgId} and cell = 'c41'`;
  expect(new Set(kept.map(({ id }) => id))).toEqual(new Set([total, run]));
  expect(await sql`select 1 from cell_spend where org_id = ${orgId} and cell = 'c39'`).toHaveLength(5);
});

/** Turns over alert rules without a control plane beside them: order, failures and control planes that meet. */
import { randomUUID } from 'node:crypto';
import { createLogger } from '@acg/base/log';
import { evaluateDueAlertRules } from '@acg/controlplane/alert-rules/evaluate-alert-rules';
import type { Sql } from '@acg/controlplane/db/postgres-client';
import { beforeEach, expect, test } from 'vitest';
import { holdPostgresLock } from '../fixtures/hold-postgres-lock.js';
import { useTestDatabase } from '../fixtures/test-database.js';

const db = useTestDatabase();
const log = createLogger('test', 'silent');
const BOUNDS = { rules: 100, statementTimeoutMs: 2_000 };

beforeEach(async () => {
  await db().sql`delete from organizations`;
});

/** Rules with a value of an earlier evaluation, which are due. Returns their ids. */
async function insertRules(count: number): Promise<readonly string[]> {
  const orgId = randomUUID();
  await db().sql`insert into organizations (id, name, slug) values (${orgId}, 'O', ${orgId})`;
  const rows = await db().sql<{ id: string }[]>`
    insert into alert_rules (id, org_id, name, metric, window_hours, increase_percent, at_least, value, baseline, evaluated_at)
    select gen_random_uuid(), ${orgId}, 'r', 'spend', 1, 50, 1, 7, 7, now() - interval '1 hour'
      from generate_series(1, ${count}) returning id`;
  return rows.map(({ id }) => id);
}

const evaluated = async (ids: readonly string[]): Promise<number> => {
  const rows = await db().sql`
    select 1 from alert_rules where id = any(${ids as string[]}::uuid[]) and evaluated_at > now() - interval '1 minute'`;
  return rows.length;
};
const stateOf = async (id: string) => {
  const [row] = await db().sql`
    select value, baseline, failed_at is not null as failed, evaluated_at > now() - interval '1 minute' as evaluated
      from alert_rules where id = ${id}`;
  return row;
};

test('organizations take turns: many rules that wait longer do not displace the rule of another organization', async () => {
  const { sql } = db();
  const many = await insertRules(5);
  await sql`update alert_rules set evaluated_at = null`;
  const one = await insertRules(1);
  expect(await evaluateDueAlertRules(sql, log, { ...BOUNDS, rules: 2 })).toBe(2);
  expect([await evaluated(many), await evaluated(one)]).toEqual([1, 1]);
});

test('one control plane evaluates at a time', async () => {
  const { sql } = db();
  const [id] = await insertRules(1);
  const release = await holdPostgresLock(sql, (tx) => tx`select pg_advisory_xact_lock(hashtext('alert rules'))`);
  expect(await evaluateDueAlertRules(sql, log)).toBe(0);
  expect(await stateOf(id!)).toMatchObject({ evaluated: false, failed: false });
  await release();
  expect(await evaluateDueAlertRules(sql, log)).toBe(1);
});

test('a rule that fails shows no value and its failure until it succeeds, and its alert stays open', async () => {
  const { sql } = db();
  const [id] = await insertRules(1);
  await sql`
    insert into alerts (id, org_id, rule_id, value, met_at) select gen_random_uuid(), org_id, id, 7, now() - interval '2 hours'
      from alert_rules`;
  const release = await holdPostgresLock(sql, (tx) => tx`lock usage_hourly in access exclusive mode`);
  expect(await evaluateDueAlertRules(sql, log, { ...BOUNDS, statementTimeoutMs: 50 })).toBe(0);
  await release();
  expect(await stateOf(id!)).toEqual({ value: null, baseline: null, failed: true, evaluated: true });
  expect(await sql`select 1 from alerts where resolved_at is null`).toHaveLength(1);
  expect(await evaluateDueAlertRules(sql, log)).toBe(0); // due a minute later
  await sql`update alert_rules set evaluated_at = now() - interval '2 minutes'`;
  expect(await evaluateDueAlertRules(sql, log)).toBe(1);
  expect(await stateOf(id!)).toMatchObject({ failed: false, evaluated: true });
  expect(await sql`select 1 from alerts where resolved_at is null`).toHaveLength(0);
});

/** Runs `before` when the list of due rules is read, and the first rule is not yet evaluated. */
function withTurnBetween(sql: Sql, before: () => Promise<unknown>): Sql {
  let isFirst = true;
  const begin = async (work: never) => {
    if (isFirst) {
      isFirst = false;
      await before();
    }
    return sql.begin(work);
  };
  return new Proxy(sql, { get: (target, name) => (name === 'begin' ? begin : Reflect.get(target, name)) });
}

test('a rule that another control plane evaluated or a person changed meanwhile is left alone', async () => {
  const { sql } = db();
  const ids = await insertRules(3);
  let others = 0;
  const turn = withTurnBetween(sql, async () => {
    others = await evaluateDueAlertRules(sql, log);
  });
  expect(await evaluateDueAlertRules(turn, log)).toBe(0);
  expect([others, await evaluated(ids)]).toEqual([3, 3]);

  await sql`update alert_rules set evaluated_at = now() - interval '2 minutes'`;
  const changed = withTurnBetween(
    sql,
    () => sql`update alert_rules set revision = revision + 1, evaluated_at = null, value = 9 where id = ${ids[0]!}`,
  );
  expect(await evaluateDueAlertRules(changed, log)).toBe(2);
  expect(await stateOf(ids[0]!)).toMatchObject({ value: 9, evaluated: null });
});

test('a failure that another control plane has overtaken is not recorded', async () => {
  const { sql } = db();
  const [id] = await insertRules(1);
  let isOther = true;
  const begin = async () => {
    if (isOther) await evaluateDueAlertRules(sql, log);
    isOther = false;
    throw new Error('lost');
  };
  const losing = new Proxy(sql, { get: (target, name) => (name === 'begin' ? begin : Reflect.get(target, name)) });
  expect(await evaluateDueAlertRules(losing, log)).toBe(0);
  expect(await stateOf(id!)).toMatchObject({ failed: false, evaluated: true });
});

/** What the sweeps delete, on a real Postgres. */
import { randomUUID } from 'node:crypto';
import { uuidv7 } from '@acg/base/uuidv7';
import { pruneAuditEntries } from '@acg/controlplane/audit/audit-list-and-prune-store';
import { expect, test } from 'vitest';
import { useTestDatabase } from '../fixtures/test-database.js';

const database = useTestDatabase();

async function organization(): Promise<string> {
  const id = uuidv7(Date.now());
  await database().sql`insert into organizations (id, name, slug) values (${id}, 'O', ${id})`;
  return id;
}

/** `count` entries of that age, with the age as their action. */
async function insertEntries(orgId: string, ageDays: number, count = 1): Promise<void> {
  await database().sql`
    insert into audit_entries (id, org_id, at, actor_email, action, target_type, target_id, ip, changes)
    select gen_random_uuid(), ${orgId}, now() - ${ageDays} * interval '1 day', 'a@example.com', ${String(ageDays)},
           'user', ${randomUUID()}, '127.0.0.1', '{}' from generate_series(1, ${count}::int)`;
}

test('audit: entries older than the retention are deleted in batches for every organization; others stay', async () => {
  const { sql } = database();
  const [one, other] = [await organization(), await organization()];
  await insertEntries(one, 401, 4_500); // more than two steps
  await insertEntries(other, 1_000);
  for (const ageDays of [0, 100, 399]) await insertEntries(one, ageDays);
  await pruneAuditEntries(sql, 400);
  const left = await sql`select action from audit_entries where org_id in ${sql([one, other])} order by at`;
  expect(left.map((row) => row.action)).toEqual(['399', '100', '0']);
  await pruneAuditEntries(sql, 99);
  expect(await sql`select action from audit_entries where org_id = ${one}`).toEqual([{ action: '0' }]);
});

test('audit: several control planes may sweep at once', async () => {
  const { sql } = database();
  const org = await organization();
  await insertEntries(org, 500, 3_000);
  await Promise.all([1, 2, 3].map(() => pruneAuditEntries(sql, 400)));
  await pruneAuditEntries(sql, 400); // rows that another sweep had locked
  expect(await sql`select 1 from audit_entries where org_id = ${org}`).toHaveLength(0);
});

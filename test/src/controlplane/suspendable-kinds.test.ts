/** Every table with rows of an organization is suspended with it, or says here why it need not be. */
import { SUSPENDABLE } from '@acg/controlplane/suspension/kinds';
import { expect, test } from 'vitest';
import { useTestDatabase } from '../test-database.js';

const db = useTestDatabase();

const BOOKED = 'the ledger: what was called, which nobody acts by';
const FIGURES = 'how providers were doing';

/** Why rows of these tables give nobody access and send nothing anywhere, once everything in `SUSPENDABLE` is suspended. */
const EXEMPT: Readonly<Record<string, string>> = {
  agents: 'an agent is called with a gateway token, and calls with an account: both are suspended',
  audit_entries: 'the record of what was done',
  booked_files: BOOKED,
  booked_lines: BOOKED,
  circuits: 'how providers were doing, and a hold, which ends within a day',
  circuit_outcomes: FIGURES,
  circuit_successes: FIGURES,
  device_logins: 'an approval holds by the session version of its user, or by a membership: both end',
  event_mail_queue: 'mails to members, whose memberships are suspended',
  event_mail_recipients: 'goes with the membership',
  events: 'facts; webhooks and mails that would carry them are suspended',
  idempotency_keys: 'answers to a caller, who is authenticated again',
  month_spend: BOOKED,
  organization_deletions: 'the record of what was deleted, which owners of that time read',
  poison_records: BOOKED,
  projects: 'groups agents',
  rejections_hourly: BOOKED,
  sessions: 'those of the founder end, those of members need a membership',
  suspended_items: 'where suspended rows are',
  usage_daily: BOOKED,
  usage_daily_by: BOOKED,
  usage_hourly: BOOKED,
  usage_hourly_by: BOOKED,
  usage_late: BOOKED,
  usage_late_hours: BOOKED,
  usage_records: BOOKED,
  webhook_deliveries: 'go with their endpoint',
  webhook_previous_secrets: 'goes with its endpoint',
};

test('suspension: each table with an organization id is in the list, or exempt for a reason', async () => {
  const rows = await db().sql<{ name: string }[]>`
    select c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = 'public' and c.relkind in ('r', 'p') and not c.relispartition
       and exists (select from pg_attribute a where a.attrelid = c.oid and not a.attisdropped
                      and a.attname in ('org_id', 'organization_id'))`;
  const tables = rows.map(({ name }) => name).sort();
  const listed = SUSPENDABLE.map(({ table }) => table);
  expect(tables.filter((name) => !listed.includes(name) && EXEMPT[name] === undefined)).toEqual([]);
  expect([...listed, ...Object.keys(EXEMPT)].filter((name) => !tables.includes(name))).toEqual([]);
  expect(listed.filter((name) => EXEMPT[name] !== undefined)).toEqual([]);
});

test('suspension: what holds a ciphertext is declared so, because it is kept apart for the rotation of master keys', async () => {
  const rows = await db().sql<{ name: string }[]>`
    select table_name as name from information_schema.columns
     where table_schema = 'public' and column_name = 'ciphertext'`;
  const sealed = new Set(rows.map(({ name }) => name));
  expect(SUSPENDABLE.filter(({ encrypted, table }) => encrypted !== sealed.has(table))).toEqual([]);
});

/** Every table with rows of an organization is suspended with it, or states here why it need not be. */
import { SUSPENDABLE_TABLES } from '@acg/controlplane/suspension/suspendable-tables';
import { expect, test } from 'vitest';
import { useTestDatabase } from '../fixtures/test-database.js';

const db = useTestDatabase();

const LEDGER_REASON = 'the ledger: what was called, which nobody acts by';
const STATISTICS_REASON = 'how providers were doing';

/** Reasons why rows of these tables give no access and send nothing once everything in `SUSPENDABLE` is suspended. */
const EXEMPT_TABLES: Readonly<Record<string, string>> = {
  agents: 'an agent is called with a gateway token, and calls with an account: both are suspended',
  alert_rules: 'facts about usage; webhooks and mails that would carry their events are suspended',
  alerts: 'facts about usage, which nobody acts by',
  archive_days: LEDGER_REASON,
  audit_entries: 'the record of what was done',
  billing_accounts: 'an admin key with which only the gateway reads reports; no call of an agent can use it',
  budget_spend: LEDGER_REASON,
  cell_spend: LEDGER_REASON,
  budgets: 'limits of agents; they grant nothing',
  booked_files: LEDGER_REASON,
  booked_lines: LEDGER_REASON,
  circuits: 'how providers were doing, and a hold, which ends within a day',
  circuit_outcomes: STATISTICS_REASON,
  circuit_successes: STATISTICS_REASON,
  data_plane_organizations: 'what data planes were given; it grants an organization nothing',
  device_logins: 'an approval holds by the session version of its user, or by a membership: both end',
  event_mail_queue: 'mails to members, whose memberships are suspended',
  event_mail_recipients: 'goes with the membership',
  events: 'facts; webhooks and mails that would carry them are suspended',
  idempotency_keys: 'answers to a caller, who is authenticated again',
  oauth_connects: 'ends within ten minutes, in the browser of a member',
  oauth_clients: 'grants nothing without a grant, which goes with its account',
  oauth_grants: 'goes with its account or shared credential',
  credential_rotations: 'goes with its account or shared credential',
  issuer_keys: 'sign tokens for accounts only, which are suspended',
  minted_credentials: 'goes with its account or shared credential',
  month_spend: LEDGER_REASON,
  organization_deletions: 'the record of what was deleted, which owners of that time read',
  poison_records: LEDGER_REASON,
  projects: 'groups agents',
  rejected_calls: LEDGER_REASON,
  rejection_summaries: LEDGER_REASON,
  rejections_hourly: LEDGER_REASON,
  scim_groups: 'what a directory said; its token is suspended',
  scim_users: 'what a directory said; its token is suspended, and it opens nothing without a login',
  sessions: 'those of the founder end, those of members need a membership',
  sso_domains: 'lead to a provider, whose connection is suspended',
  sso_identities: 'open sessions by a connection, which is suspended, for members only',
  sso_links: 'hold for the connection of their organization, which is suspended',
  sso_logins: 'hold for the connection of their organization, which is suspended',
  suspended_items: 'where suspended rows are',
  usage_daily: LEDGER_REASON,
  usage_daily_by: LEDGER_REASON,
  usage_hourly: LEDGER_REASON,
  usage_hourly_by: LEDGER_REASON,
  usage_late: LEDGER_REASON,
  usage_late_hours: LEDGER_REASON,
  usage_records: LEDGER_REASON,
  usage_tag_values: LEDGER_REASON,
  usage_tags: LEDGER_REASON,
  usage_tags_daily: LEDGER_REASON,
  usage_tags_late: LEDGER_REASON,
  usage_tags_open: LEDGER_REASON,
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
  const listed = SUSPENDABLE_TABLES.map(({ table }) => table);
  expect(tables.filter((name) => !listed.includes(name) && EXEMPT_TABLES[name] === undefined)).toEqual([]);
  expect([...listed, ...Object.keys(EXEMPT_TABLES)].filter((name) => !tables.includes(name))).toEqual([]);
  expect(listed.filter((name) => EXEMPT_TABLES[name] !== undefined)).toEqual([]);
});

test('suspension: tables with ciphertexts are declared, because the rotation of master keys handles them separately', async () => {
  const rows = await db().sql<{ name: string }[]>`
    select table_name as name from information_schema.columns
     where table_schema = 'public' and column_name = 'ciphertext'`;
  const sealed = new Set(rows.map(({ name }) => name));
  expect(SUSPENDABLE_TABLES.filter(({ encrypted, table }) => encrypted !== sealed.has(table))).toEqual([]);
});

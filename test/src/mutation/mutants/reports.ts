import type { Area } from '../mutant.js';

const STORE = 'controlplane/src/reports/query/rollup-store.ts';
const SOURCE = 'controlplane/src/reports/query/rollup-selection.ts';
const PERIOD = 'controlplane/src/reports/query/time-range.ts';

export const REPORTS: Area = {
  name: 'reports',
  tests: [
    'test/src/ledger/daily-rollups.test.ts',
    'test/src/reports/agent-usage-list.test.ts',
    'test/src/ledger/hourly-rollups.test.ts',
    'test/src/reports/usage-reports.test.ts',
    'test/src/reports/usage-by-scope.test.ts',
  ],
  built: false,
  mutants: [
    {
      file: SOURCE,
      find: `\${hourlyRollupsInRange(sql, scope, sql\`greatest(\${firstDay}, \${rolledUntil})\`, to, hourColumns, dimension)}`,
      put: `\${hourlyRollupsInRange(sql, scope, sql\`\${firstDay}\`, to, hourColumns, dimension)}`,
      bug: 'an hour counts twice at the border of days and hours',
    },
    {
      file: SOURCE,
      find: `\${hourlyRollupsInRange(sql, scope, from, sql\`least(\${firstDay}, \${to})\`, hourColumns, dimension)}`,
      put: `\${hourlyRollupsInRange(sql, scope, from, sql\`\${firstDay}\`, hourColumns, dimension)}`,
      bug: 'a range within one day counts what comes after it',
    },
    {
      file: SOURCE,
      find: '       and d.day not in (select l.day from usage_late l where l.org_id = ${orgId})\n',
      put: '\n',
      bug: 'a late day counts twice',
    },
    {
      file: SOURCE,
      find: '       and d.hour not in (select l.hour from usage_late_hours l where l.org_id = ${orgId})\n',
      put: '\n',
      bug: 'a late hour counts twice',
    },
    {
      file: SOURCE,
      find: 'from (select distinct day from usage_late\n',
      put: 'from (select day from usage_late\n',
      bug: 'a day that is late twice counts twice',
    },
    {
      file: SOURCE,
      find: 'from (select distinct hour from usage_late_hours where',
      put: 'from (select hour from usage_late_hours where',
      bug: 'an hour that is late twice counts twice',
    },
    {
      file: SOURCE,
      find: 'hour >= greatest(${from}, ${rolledUntil}) and hour < ${to}`;',
      put: 'hour >= ${from} and hour < ${to}`;',
      bug: 'a rolled-up hour counts twice',
    },
    {
      file: SOURCE,
      find: 'const firstDay = sql`${new Date(Math.ceil(fromMs / DAY_MS) * DAY_MS)}::timestamptz`;',
      put: 'const firstDay = sql`${new Date(Math.floor(fromMs / DAY_MS) * DAY_MS)}::timestamptz`;',
      bug: 'a range that begins at noon counts the whole day',
    },
    {
      file: SOURCE,
      find: 'const lastDay = new Date(Math.floor(toMs / DAY_MS) * DAY_MS);',
      put: 'const lastDay = new Date(Math.ceil(toMs / DAY_MS) * DAY_MS);',
      bug: 'a range that ends at noon counts the whole day',
    },
    {
      file: SOURCE,
      find: 'projectId === null ? sql`` : sql`and project_id = ${projectId}`;',
      put: 'projectId === null ? sql`` : sql`and ${projectId}::text is not null`;',
      bug: 'a project shows the usage of the organization',
    },
    {
      file: SOURCE,
      find: 'agentIds === null ? sql`` : sql`and agent_id = any(${[...agentIds]}::uuid[])`;',
      put: 'agentIds === null ? sql`` : sql`and ${agentIds.length} > 0`;',
      bug: 'an agent shows the usage of all',
    },
    {
      file: STORE,
      find: 'order by sum(requests) desc, provider_slug`;',
      put: 'order by sum(requests), provider_slug`;',
      bug: 'the provider that is used least comes first',
    },
    {
      file: STORE,
      find: 'then cost_nanos * (1 - extract(epoch from ${since}::timestamptz - hour) / 3600)',
      put: 'then cost_nanos',
      bug: 'the spend of a day contains 25 hours',
    },
    {
      file: STORE,
      find: `select date_trunc(\${interval}, hour) as bucket, \${sql.unsafe(SUM_EXPRESSIONS)}`,
      put: `select date_trunc('day', hour) as bucket, \${sql.unsafe(SUM_EXPRESSIONS)}`,
      bug: 'an hourly series starts at midnight',
    },
    {
      file: PERIOD,
      find: `const toMs = floorTo(nowMs, HOUR_MS) + HOUR_MS;`,
      put: `const toMs = floorTo(nowMs, HOUR_MS);`,
      bug: 'the current hour is missing',
    },
    {
      file: PERIOD,
      find: `toMs: clampToLatest(Date.parse(last) + DAY_MS) };`,
      put: `toMs: clampToLatest(Date.parse(last)) };`,
      bug: 'the last day of a range is missing',
    },
    {
      file: PERIOD,
      find: 'if (period !== undefined) throw new InvalidInput',
      put: 'if (period === null) throw new InvalidInput',
      bug: 'days override a period without an error',
    },
  ],
};

/**
 * Times the requests of each dashboard screen (controlplane/dashboard/src/screens) over the whole ledger: each request
 * by itself, and all requests of a screen at once, as a browser sends them.
 */
import { percentile } from '../statistics.js';
import type { Seeded } from './seed.js';
import { type ApiTarget, fetchText, type QueryTime, timeQuery } from './usage-request-times.js';

const REQUESTS = 60;
const OPENINGS = 30;
/** Not counted. */
const WARM_UPS = 2;

/** Without `/v1/me` and `/v1/config`, which each page requests first. */
function screensOf({ busyAgentId, agentIds }: Seeded): Readonly<Record<string, readonly string[]>> {
  const choice = 'usage/agents?limit=20&period=30d';
  const projects = 'projects?limit=100';
  const overview = (period: string): string[] => [
    `usage/summary?period=${period}`,
    `usage/timeseries?period=${period}&groupBy=provider`,
    `usage/breakdown?by=agent&period=${period}&limit=5`,
    `usage/breakdown?by=provider&period=${period}&limit=5`,
    'usage/agents?sort=budgetUsedPercent&order=desc&limit=5',
    'status',
    'events?limit=5',
  ];
  const usage = (period: string, by: string): string[] => [
    `usage/summary?period=${period}`,
    `usage/timeseries?period=${period}&groupBy=${by}`,
    `usage/breakdown?period=${period}&by=${by}&limit=20&offset=0`,
    projects,
    choice,
  ];
  const agent = (id: string): string[] => [
    `agents/${id}`,
    `usage/summary?agentId=${id}&period=7d`,
    `usage/agents?search=${id}&limit=1`,
    `usage/timeseries?agentId=${id}&period=7d`,
  ];
  const calls = (filter: string): string[] => [`usage/logs?${filter}limit=100&offset=0`, 'providers?limit=100', choice];
  return {
    'any page': ['me', 'config'],
    'overview, 7 days': overview('7d'),
    'overview, 90 days': overview('90d'),
    agents: ['usage/agents?period=7d&order=desc&sort=costCents&limit=25&offset=0', projects],
    'busy agent': agent(busyAgentId),
    'ordinary agent': agent(agentIds[1]!),
    "busy agent's calls": [`agents/${busyAgentId}`, `usage/logs?agentId=${busyAgentId}&limit=25&offset=0`],
    'calls, live': calls(''),
    'calls, live, failed ones': calls('status=5xx&'),
    'calls, live, none such': calls('search=nowhere&'),
    'usage by provider, 7 days': usage('7d', 'provider'),
    ...Object.fromEntries(
      ['provider', 'agent', 'model', 'key', 'project', 'status', 'reason'].map((by) => [
        `usage by ${by}, 90 days`,
        usage('90d', by),
      ]),
    ),
    'usage, 10 agents compared, 90 days': [
      ...usage('90d', 'provider'),
      `usage/agents/compare?period=90d&agentIds=${agentIds.slice(0, 10).join()}`,
    ],
    rejections: [
      'usage/refusals?period=7d',
      'usage/timeseries?period=7d&groupBy=reason',
      'usage/agents?period=7d&sort=rejectedRequests&order=desc&limit=10',
      choice,
    ],
    projects: ['projects?limit=50&offset=0', 'usage/breakdown?by=project&period=30d&limit=100'],
    keys: ['api-keys?sort=createdAt&order=desc&limit=25&offset=0', projects],
    providers: [
      'providers/accounts?status=needs_credentials&limit=10',
      'custom-providers?limit=100',
      projects,
      'providers/accounts?limit=50&offset=0',
    ],
    setup: ['usage/agents?sort=createdAt&order=desc&limit=1', projects],
    'the rest': [
      'events?limit=50&offset=0',
      'circuits?limit=50&offset=0',
      'webhooks?limit=50&offset=0',
      'audit?limit=50&offset=0',
      'members?limit=50&offset=0',
      'sessions?limit=20&offset=0',
      'management-tokens?limit=20&offset=0',
    ],
  };
}

interface ScreenTime {
  readonly screen: string;
  readonly requests: number;
  /** Until the last response has arrived. */
  readonly p50Ms: number;
  readonly p95Ms: number;
}

export async function timeDashboard(
  target: ApiTarget,
  seeded: Seeded,
): Promise<{ readonly screens: readonly ScreenTime[]; readonly requests: readonly QueryTime[] }> {
  const screens: ScreenTime[] = [];
  const requests = new Map<string, QueryTime>();
  for (const [screen, asked] of Object.entries(screensOf(seeded))) {
    const paths = asked.map((path) => `/v1/${path}`);
    for (const path of paths) {
      if (requests.has(path)) continue;
      const shown = path.replace(/agentIds=.*/, 'agentIds=…').replaceAll(seeded.busyAgentId, 'BUSY');
      requests.set(path, await timeQuery(target, shown, [path], REQUESTS));
    }
    const samples: number[] = [];
    for (let i = -WARM_UPS; i < OPENINGS; i++) {
      const startMs = performance.now();
      await Promise.all(paths.map((path) => fetchText(target, path)));
      if (i >= 0) samples.push(performance.now() - startMs);
    }
    const [p50Ms, p95Ms] = [50, 95].map((part) => Math.round(10 * percentile(samples, part)) / 10);
    screens.push({ screen, requests: paths.length, p50Ms: p50Ms!, p95Ms: p95Ms! });
  }
  return { screens, requests: [...requests.values()] };
}

/** Times of usage requests over HTTP as a dashboard sends them: one at a time, caches warm. */
import { DAY_MS } from '@acg/base/time-and-money-units';
import { treeCoreTime } from '../process-usage.js';
import { percentile } from '../statistics.js';
import type { Seeded } from './seed.js';

export interface QueryTime {
  readonly query: string;
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly bytes: number;
  /** Of control plane and Postgres, per request: time on a core, and time without one while they could have run. */
  readonly cpuMs?: number;
  readonly waitedMs?: number;
}

/** A slow query is repeated less often. */
const TIME_MS_MAX = 5_000;
const SAMPLES_MIN = 10;

export interface ApiTarget {
  readonly url: string;
  readonly session: string;
  /** Control plane and Postgres, whose core time is measured. */
  readonly pids?: readonly number[];
}

/** With a cold cache the first run of a query may exceed the server's timeout. */
const WARM_UPS = 3;

async function warmUp(target: ApiTarget, path: string): Promise<void> {
  for (let left = WARM_UPS; left > 0; left--) {
    try {
      await fetchText(target, path);
      return;
    } catch (error) {
      if (left === 1) throw error;
    }
  }
}

export async function fetchText({ url, session }: ApiTarget, path: string): Promise<string> {
  const response = await fetch(url + path, { headers: { authorization: `Bearer ${session}` } });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${path}: ${response.status} ${text.slice(0, 200)}`);
  return text;
}

/** Alternates between `paths`, so that no query runs for one agent only. */
export async function timeQuery(
  target: ApiTarget,
  query: string,
  paths: readonly string[],
  times: number,
): Promise<QueryTime> {
  const samples: number[] = [];
  let bytes = 0;
  for (const path of paths) await warmUp(target, path);
  const { pids } = target;
  const before = pids === undefined ? null : treeCoreTime(pids);
  const endMs = performance.now() + TIME_MS_MAX;
  for (let i = 0; i < times && (i < SAMPLES_MIN || performance.now() < endMs); i++) {
    const startMs = performance.now();
    bytes = (await fetchText(target, paths[i % paths.length]!)).length;
    samples.push(performance.now() - startMs);
  }
  const rounded = (value: number): number => Math.round(value * 10) / 10;
  const times50And95 = { p50Ms: rounded(percentile(samples, 50)), p95Ms: rounded(percentile(samples, 95)) };
  if (pids === undefined || before === null) return { query, ...times50And95, bytes };
  const after = treeCoreTime(pids);
  const perRequestMs = (us: number): number => rounded(us / 1_000 / samples.length);
  return {
    query,
    ...times50And95,
    bytes,
    cpuMs: perRequestMs(after.cpuUs - before.cpuUs),
    waitedMs: perRequestMs(after.waitedUs - before.waitedUs),
  };
}

const QUERIES = 100;
const COMPARES = 30;
const LOG_FILTERS = [
  '',
  '&provider=resend',
  '&provider=vercel', // no match: reads the agent's whole index
  '&statusMin=500',
  '&statusMin=501', // no match either
  '&provider=openai&statusMin=500&search=timeout',
  '&statusMax=299&offset=5000',
  '&search=timeout', // one row in 5 000
  '&search=completions', // every row
  '&search=chatcmpl-needle', // three rows of each agent, the newest 60 days old
  '&search=nowhere', // none
  '&search=e7', // too short for the trigram index, and part of every id
];

/** Filters over the calls of the whole organization. */
const CALL_FILTERS = [
  '',
  'status=5xx',
  'status=418', // none
  'minCost=100', // none
  'provider=vercel', // none
  'offset=9000',
  'search=completions', // every call
  'search=timeout', // one in 5 000
  'search=nowhere', // none
  'search=e7',
];

/** Times every usage request, alternately for the agent with a tenth of all rows and for ordinary agents. */
export async function timeUsageRequests(target: ApiTarget, { busyAgentId, agentIds }: Seeded): Promise<QueryTime[]> {
  const ordinary = agentIds.slice(1, 21);
  const times: QueryTime[] = [];
  const day = (daysAgo: number): string => new Date(Date.now() - daysAgo * DAY_MS).toISOString().slice(0, 10);
  const span = `start=${day(89)}&end=${day(0)}`;
  const ask = async (path: string) => {
    const of = (id: string): string => `/v1/usage/agents/${id}${path}`;
    times.push(await timeQuery(target, `busy agent ${path}`, [of(busyAgentId)], QUERIES));
    times.push(await timeQuery(target, `ordinary agent ${path}`, ordinary.map(of), QUERIES));
  };
  for (const period of ['24h', '7d', '30d', '90d']) await ask(`/summary?period=${period}`);
  for (const part of ['period=24h', 'period=7d', 'period=30d', 'period=90d', 'period=90d&interval=hour'])
    await ask(`/timeseries?${part}`);
  for (const period of ['24h', '7d', '30d', '90d']) await ask(`/providers?period=${period}`);
  await ask(`?${span}`);
  for (const filter of LOG_FILTERS) await ask(`/logs?${span}${filter}`);
  const everywhere = async (path: string) => {
    times.push(await timeQuery(target, `organization ${path}`, [`/v1/usage/${path}`], QUERIES));
  };
  for (const by of ['model', 'key', 'agent', 'provider', 'project']) {
    for (const period of ['24h', '90d']) await everywhere(`breakdown?by=${by}&period=${period}`);
  }
  for (const path of ['summary', 'timeseries']) {
    for (const period of ['24h', '90d']) await everywhere(`${path}?period=${period}`);
  }
  for (const path of [
    'refusals?period=90d',
    'timeseries?period=24h&groupBy=model',
    'timeseries?period=90d&groupBy=agent',
    'breakdown?by=status&period=30d',
    'agents',
    'agents?sort=costCents&period=30d',
    ...CALL_FILTERS.map((filter) => `logs?${filter}`),
    `logs?agentId=${busyAgentId}`,
    `logs?agentId=${ordinary[0]}&status=418`,
    `logs?keyId=${ordinary[0]}`,
  ]) {
    await everywhere(path);
  }
  for (const by of ['model', 'key']) {
    const of = (id: string): string => `/v1/usage/breakdown?by=${by}&period=90d&agentId=${id}`;
    times.push(await timeQuery(target, `busy agent by ${by}, 90d`, [of(busyAgentId)], QUERIES));
    times.push(await timeQuery(target, `ordinary agent by ${by}, 90d`, ordinary.map(of), QUERIES));
  }
  times.push(...(await timeTagRequests(target, { busyAgentId, agentIds: ordinary })));
  const compare = `/v1/usage/agents/compare?agentIds=${agentIds.slice(0, 20).join()}`;
  for (const period of ['30d', '90d'])
    times.push(await timeQuery(target, `compare 20, ${period}`, [`${compare}&period=${period}`], COMPARES));
  return times;
}

/** Reports and calls by tag. */
export async function timeTagRequests(
  target: ApiTarget,
  { busyAgentId, agentIds }: Pick<Seeded, 'busyAgentId' | 'agentIds'>,
): Promise<QueryTime[]> {
  const times: QueryTime[] = [];
  for (const [scope, agents] of [
    ['organization', ['']],
    ['busy agent', [`&agentId=${busyAgentId}`]],
    ['ordinary agent', agentIds.map((id) => `&agentId=${id}`)],
  ] as const)
    for (const path of [
      'breakdown?by=tag:customer&period=90d',
      'breakdown?by=tag:feature&period=90d',
      'breakdown?by=tag:customer&period=90d&compare=previous',
      'breakdown?by=tag:nowhere&period=90d',
      'timeseries?groupBy=tag:customer&interval=day&period=90d',
      'timeseries?groupBy=tag:feature&interval=day&period=90d',
      'logs?tag=customer=c7',
      'logs?tag=customer=nobody',
    ])
      times.push(
        await timeQuery(
          target,
          `${scope} ${path}`,
          agents.map((agent) => `/v1/usage/${path}${agent}`),
          QUERIES,
        ),
      );
  return times;
}

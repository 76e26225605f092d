/**
 * A month's end on real processes: control plane, three data planes, Postgres and Redis on a clock that the test sets; one
 * data plane is 20 s ahead of the others. The month ends on a Sunday, so its last day and week end with it. Streams and
 * plain calls of soft and hard budgets begin before midnight and end after it. Redis, ledger, reports, `/v1/self`,
 * rejections and headers agree about each window.
 */
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Secret } from '@acg/base/secret';
import { NANOS_PER_CENT } from '@acg/base/time-and-money-units';
import { openPool, type Sql } from '@acg/controlplane/db/postgres-client';
import { calendarWindowAt } from '@acg/dataplane/limits/calendar-window';
import { findPostgresBinaries } from '@acg/singlenode/postgres/postgres-binaries';
import { PostgresCluster } from '@acg/singlenode/postgres/postgres-cluster';
import { Agent as Connections, request as send } from 'undici';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { RedisServer } from '../fixtures/redis-server.js';
import { ShiftedClock } from '../fixtures/shifted-clock.js';
import { Stack, type Tenant, waitForCondition } from '../fixtures/stack.js';

const UNITS = ['day', 'week', 'month'] as const;
type Unit = (typeof UNITS)[number];
type Mode = 'soft' | 'hard';

/** Price of an output token of gpt-4o, nano-dollars. Input is free here. */
const TOKEN_NANOS = 10_000;
const CENT_TOKENS = NANOS_PER_CENT / TOKEN_NANOS;
const TIGHT_CENTS = 20;
const FAR_CENTS = 100_000;
/** What streams reserve that state no maximum. */
const UNSTATED_CENTS = 1;
const AHEAD_MS = 20_000;
/** Before midnight: for all calls that must be admitted there. */
const LEAD_MS = 120_000;
/** Before midnight: leases of reservations, which the step there has ended, are renewed every 5 s. */
const LAST_LEAD_MS = 12_000;

/** The next month that begins on a Monday, Unix seconds. */
function findTurn(): number {
  let month = calendarWindowAt('month', Date.now() / 1000);
  do month = calendarWindowAt('month', month.endSec);
  while (new Date(month.startSec * 1000).getUTCDay() !== 1);
  return month.startSec;
}
const turnSec = findTurn();
const OLD = turnSec - 1;
const NEW = turnSec;
const windowName = (unit: Unit, sec: number): string => calendarWindowAt(unit, sec).name;

const streams = new Map<string, ServerResponse>();
/** Bills the tokens that the request names. A stream stays open until {@link endStream}. */
const provider = createServer((request, response) => {
  const pieces: Buffer[] = [];
  request.on('data', (piece: Buffer) => pieces.push(piece));
  request.on('end', () => {
    const { stream, user, tokens } = JSON.parse(Buffer.concat(pieces).toString());
    if (stream === true) {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(CONTENT);
      streams.set(user, response);
    } else {
      const answer = { id: 'x', object: 'chat.completion', model: 'gpt-4o', choices: [], usage: usageOf(tokens) };
      response.setHeader('content-type', 'application/json').end(JSON.stringify(answer));
    }
  });
});
const usageOf = (tokens: number) => ({ prompt_tokens: 0, completion_tokens: tokens, total_tokens: tokens });
const chunk = (fields: object): string =>
  `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', model: 'gpt-4o', ...fields })}\n\n`;
const CONTENT = chunk({ choices: [{ index: 0, delta: { content: 'w' } }] });

const endStream = (user: string, tokens: number): void =>
  void streams.get(user)!.end(`${chunk({ choices: [], usage: usageOf(tokens) })}data: [DONE]\n\n`);

/** Sends until the gateway ends the call. */
function streamUntilCut(user: string): void {
  const response = streams.get(user)!;
  const more = (): void => {
    if (!response.destroyed) response.write(CONTENT.repeat(50), () => setImmediate(more));
  };
  more();
}

const connections = new Connections({ connections: 300 });
const clock = new ShiftedClock(turnSec * 1000 - 2 * LEAD_MS);
const clockAhead = new ShiftedClock(clock.nowMs + AHEAD_MS);
function setClocks(unixMs: number): void {
  clock.set(unixMs);
  clockAhead.set(unixMs + AHEAD_MS);
}

let home: string;
let cluster: PostgresCluster;
let sql: Sql;
let redis: RedisServer;
let stack: Stack;
let tenant: Tenant;
let urls: readonly string[];

beforeAll(async () => {
  provider.listen(0, '127.0.0.1');
  await once(provider, 'listening');
  home = mkdtempSync(join(tmpdir(), 'acg-month-end-'));
  chmodSync(home, 0o711); // the user that runs Postgres must be able to enter
  const binaries = findPostgresBinaries();
  cluster = await PostgresCluster.start({
    binaries: { ...binaries, postgres: clock.wrap(binaries.postgres) },
    directory: join(home, 'cluster'),
    password: 'test-only-password',
    logFile: join(home, 'postgres.log'),
    port: 0,
    settings: ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off'],
  });
  await cluster.createDatabase('gateway');
  const url = new Secret(cluster.url('gateway'));
  redis = await RedisServer.start({ env: clock.redisEnv });
  stack = await Stack.start({
    providers: { openai: `http://127.0.0.1:${(provider.address() as AddressInfo).port}` },
    redisUrl: redis.url.href,
    database: { url, drop: async () => undefined },
    env: clock.env,
    dataPlaneEnv: { ...clock.env, COUNTERS_TIMEOUT_MS: '5000' },
  });
  sql = openPool(url, { connectionsMax: 2, applicationName: 'test' });
  const planes = await Promise.all([stack.addDataPlane(), stack.addDataPlane(), stack.addDataPlane(clockAhead.env)]);
  urls = planes.map((plane) => plane.url);
  tenant = await stack.signUpTenant();
});
afterAll(async () => {
  provider.closeAllConnections();
  await stack?.stop();
  await sql?.end({ timeout: 1 });
  await cluster?.stop();
  await redis?.stop();
  provider.close();
  clock.remove();
  clockAhead.remove();
  rmSync(home, { recursive: true, force: true });
});

const readStoreSec = async (): Promise<number> => Number((await redis.admin.time())[0]);

/** A budget of an agent, the project or the organization. */
interface Row {
  readonly scope: 'agent' | 'project' | 'org';
  readonly scopeId: string;
  /** Null: the plain monthly row. */
  readonly id: string | null;
  readonly window: Unit | 'total';
}

interface TestAgent {
  readonly id: string;
  readonly token: string;
  readonly rows: readonly Row[];
  /** The window and the mode of its budget of {@link TIGHT_CENTS}; null: all of its budgets are far away. */
  readonly tight: { readonly unit: Unit; readonly mode: Mode } | null;
}

interface Call {
  readonly agentId: string;
  readonly requestId: string;
  readonly admitted: 'before' | 'after' | 'around midnight';
  /** Null: the ledger decides, because the stream was cut. */
  readonly costNanos: number | null;
}
const calls: Call[] = [];

/** All that count an agent's calls, as a data plane has them: a hard monthly budget of a project has two rows. */
async function readRows(agentId: string, token: string): Promise<readonly Row[]> {
  const idOf = { agent: agentId, project: tenant.projectId, org: tenant.orgId };
  const { budgets } = await readSelf(0, { token });
  return budgets.map(({ scope, budgetId = null, window }) => ({ scope, scopeId: idOf[scope], id: budgetId, window }));
}

async function createAgent(tight: TestAgent['tight']): Promise<TestAgent> {
  const budgets: object[] = UNITS.map((window) => {
    if (window === tight?.unit) return { window, mode: tight.mode, cents: TIGHT_CENTS };
    return { window, mode: tight?.mode === 'soft' ? 'hard' : 'soft', cents: FAR_CENTS };
  });
  if (tight === null) budgets.push({ window: 'day', mode: 'audit', cents: 1, models: ['gpt-4o'] });
  const holdMaxOutputTokens = UNSTATED_CENTS * CENT_TOKENS;
  const { id } = await tenant.createAgent({ budgets, holdMaxOutputTokens, rpmLimit: 1_000_000, rpdLimit: 100_000_000 });
  await tenant.createAccount(id, 'openai', { apiKey: 'sk-test-0123456789' });
  const token = await tenant.createToken(id);
  return { id, token, rows: await readRows(id, token), tight };
}

async function callProvider(plane: number, token: string, body: object) {
  const answer = await send(`${urls[plane]}/v1/proxy/openai/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'gpt-4o', messages: [], ...body }),
    dispatcher: connections,
  });
  const { statusCode: status, headers } = answer;
  return { status, headers, requestId: String(headers['x-gateway-request-id']), text: answer.body.text() };
}

/** A call that costs `tokens` and may cost `maxTokens`. */
async function callPlainly(
  plane: number,
  { id: agentId, token }: Pick<TestAgent, 'id' | 'token'>,
  admitted: Call['admitted'],
  tokens: number,
  maxTokens = tokens,
) {
  const answer = await callProvider(plane, token, { max_completion_tokens: maxTokens, tokens });
  const text = await answer.text;
  if (answer.status === 200)
    calls.push({ agentId, requestId: answer.requestId, admitted, costNanos: tokens * TOKEN_NANOS });
  return { status: answer.status, headers: answer.headers, body: JSON.parse(text) };
}

interface OpenStream {
  readonly agent: Pick<TestAgent, 'id' | 'token'>;
  readonly user: string;
  readonly admitted: 'before' | 'after';
  readonly requestId: string;
  readonly text: Promise<string>;
}

/** Resolves once the first bytes are there: the call is admitted. */
async function openStream(
  plane: number,
  agent: OpenStream['agent'],
  admitted: OpenStream['admitted'],
  maxCents: number | null,
): Promise<OpenStream> {
  const user = `${agent.id} ${plane} ${admitted} ${agent.token.slice(-4)}`;
  const maximum = maxCents === null ? {} : { max_completion_tokens: maxCents * CENT_TOKENS };
  const answer = await callProvider(plane, agent.token, { stream: true, user, ...maximum });
  expect(answer.status).toBe(200);
  return { agent, user, admitted, requestId: answer.requestId, text: answer.text };
}

async function finishStream({ agent, user, admitted, requestId, text }: OpenStream, tokens: number): Promise<void> {
  endStream(user, tokens);
  await text;
  calls.push({ agentId: agent.id, requestId, admitted, costNanos: tokens * TOKEN_NANOS });
}

interface SelfDocument {
  readonly month: string;
  readonly budgetResetAt: number;
  readonly budgets: readonly {
    readonly scope: Row['scope'];
    readonly budgetId?: string;
    readonly window: Row['window'];
    readonly spentUsd: number;
    readonly heldUsd: number;
    readonly resetAt: number | null;
  }[];
}

async function readSelf(plane: number, { token }: Pick<TestAgent, 'token'>): Promise<SelfDocument> {
  const { body } = await send(`${urls[plane]}/v1/self`, { headers: { authorization: `Bearer ${token}` } });
  return (await body.json()) as SelfDocument;
}

/** As `/v1/self` rounds. */
const toUsd = (nanos: number): number => Math.round(nanos / 1_000) / 1e6;

/** What every plane says about the row of an agent's tight budget. */
async function readHeldCents({ token, tight }: TestAgent): Promise<number[]> {
  const documents = await Promise.all(urls.map((_, plane) => readSelf(plane, { token })));
  const held = documents.map(
    ({ budgets }) => budgets.find(({ scope, window }) => scope === 'agent' && window === tight!.unit)!.heldUsd,
  );
  return held.map((usd) => Math.floor(usd * 100));
}

async function readRedisNanos(name: string, window: string): Promise<number> {
  const [sum, ledger] = await redis.admin.hmget(`acg:{${tenant.orgId}}:spend:${name}:${window}`, 'sum', 'ledger');
  return Math.max(Number(sum), Number(ledger));
}

const redisNameOf = ({ scope, scopeId, id }: Row): string => (id === null ? `${scope}:${scopeId}` : `budget:${id}`);

async function readLedgerNanos({ scope, scopeId, id }: Row, period: string): Promise<number> {
  const table =
    id !== null
      ? sql`budget_spend where budget_id = ${id} and period = ${period}`
      : scope === 'agent'
        ? sql`month_spend where agent_id = ${scopeId} and month = ${period}`
        : sql`scope_spend_slots where scope = ${scope} and scope_id = ${scopeId} and month = ${period}`;
  const [row] = await sql<{ nanos: number }[]>`select coalesce(sum(spent_nanos), 0)::float8 as nanos from ${table}`;
  return row!.nanos;
}

test('month’s end: calls count in the windows of their admission, in every process and every report', async () => {
  const { projectId, orgId } = tenant;
  const far = (window: Row['window'], mode: Mode) => ({ window, mode, cents: FAR_CENTS });
  const setBudgets = async (path: string, budgets: readonly object[]): Promise<void> =>
    expect((await tenant.call('PATCH', path, { budgets })).status).toBe(200);
  await setBudgets(`/v1/projects/${projectId}`, [far('day', 'hard'), far('week', 'soft'), far('month', 'hard')]);
  const ofOrg = [far('day', 'soft'), far('week', 'hard'), far('month', 'soft'), far('total', 'hard')];
  await setBudgets(`/v1/orgs/${orgId}`, ofOrg);
  const tights = UNITS.flatMap((unit) => (['soft', 'hard'] as const).map((mode) => ({ unit, mode })));
  const limited = await Promise.all(tights.map(createAgent));
  const free = await createAgent(null);
  const isOwn = ({ scope }: Row): boolean => scope === 'agent';
  const auditedId = free.rows.filter((row) => isOwn(row) && row.window === 'day').at(-1)!.id;
  const started = await tenant.call('POST', '/v1/runs', { agentId: free.id, budgetCents: 50, expiresIn: 86_400 });
  const run = { id: free.id, token: started.body.secretKey as string, runId: started.body.run.id as string };

  // Before midnight.
  setClocks(turnSec * 1000 - LEAD_MS);
  const open: OpenStream[] = [];
  const unstated: OpenStream[] = [];
  await Promise.all(
    limited.map(async (agent) => {
      for (const [plane] of urls.entries()) {
        const isUnstated = plane === 0 && agent.tight!.mode === 'hard';
        const stream = await openStream(plane, agent, 'before', isUnstated ? null : 5);
        (isUnstated ? unstated : open).push(stream);
      }
      const { unit: window, mode } = agent.tight!;
      if (mode === 'soft')
        expect(await callPlainly(0, agent, 'before', (TIGHT_CENTS + 1) * CENT_TOKENS)).toMatchObject({ status: 200 });
      const isRejected = async (plane: number): Promise<boolean> => {
        const { status, body } = await callPlainly(plane, agent, 'before', 1, 10 * CENT_TOKENS);
        if (status !== 429) return false;
        expect(body).toMatchObject({ limitType: 'budget', scope: 'agent', window, resetAt: turnSec });
        expect(body.reason).toBe(mode === 'hard' ? 'in_flight' : undefined);
        return true;
      };
      for (const [plane] of urls.entries()) await waitForCondition(() => isRejected(plane), 'the budget is used up');
    }),
  );
  open.push(await openStream(1, run, 'before', 5));
  for (const [plane] of urls.entries()) expect((await callPlainly(plane, run, 'before', 1_000)).status).toBe(200);
  expect((await callPlainly(0, free, 'before', 2 * CENT_TOKENS)).status).toBe(200);
  const isAudited = async (plane: number): Promise<boolean> =>
    (await callPlainly(plane, free, 'before', 1)).headers['x-gateway-would-reject'] === `budget:${auditedId}`;
  for (const [plane] of urls.entries()) await waitForCondition(() => isAudited(plane), 'the audited budget is used up');
  const hard = limited.filter(({ tight }) => tight!.mode === 'hard');
  for (const agent of hard) expect(await readHeldCents(agent)).toEqual([11, 11, 11]);
  for (const [plane] of urls.entries()) {
    const { month, budgetResetAt, budgets } = await readSelf(plane, free);
    expect([month, budgetResetAt]).toEqual([windowName('month', OLD), turnSec]);
    for (const { window, resetAt } of budgets) expect(resetAt).toBe(window === 'total' ? null : turnSec);
  }
  expect(await readStoreSec(), 'all of this was before midnight').toBeLessThan(turnSec);

  // Around midnight, while the control plane is away.
  await stack.controlPlane.kill();
  setClocks(turnSec * 1000 - LAST_LEAD_MS);
  for (const agent of hard)
    await waitForCondition(async () => String(await readHeldCents(agent)) === '11,11,11', 'the leases are renewed');
  expect(await readStoreSec(), 'the leases were renewed before midnight').toBeLessThan(turnSec);
  let isOver = false;
  const audits: boolean[][] = [];
  const callFreely = async (plane: number): Promise<void> => {
    const own: boolean[] = [];
    audits.push(own);
    for (let last = false; !last; ) {
      last = isOver;
      const { status, headers } = await callPlainly(plane, free, 'around midnight', 1 + Math.floor(Math.random() * 20));
      expect(status).toBe(200);
      own.push(headers['x-gateway-would-reject'] === `budget:${auditedId}`);
    }
  };
  /** A tight budget has no room before midnight. */
  const callUntilAdmitted = async (plane: number, agent: TestAgent): Promise<void> => {
    const isAdmitted = async (): Promise<boolean> =>
      (await callPlainly(plane, agent, 'after', 10, 10 * CENT_TOKENS)).status === 200;
    await waitForCondition(isAdmitted, 'the next window admits a call');
    expect(await readStoreSec()).toBeGreaterThanOrEqual(turnSec);
  };
  const callers = urls.flatMap((_, plane) => [
    callFreely(plane),
    callFreely(plane),
    ...limited.map((agent) => callUntilAdmitted(plane, agent)),
  ]);
  await waitForCondition(async () => (await readStoreSec()) > turnSec, 'midnight');
  const readNewNanos = (): Promise<number> => readRedisNanos(`agent:${free.id}`, windowName('month', NEW));
  await waitForCondition(async () => (await readNewNanos()) > 2 * NANOS_PER_CENT, 'calls of the new month');
  isOver = true;
  await Promise.all(callers);
  for (const own of audits) {
    // Over the audited budget before midnight, within it at first, over it again.
    const text = own.map((isOver) => (isOver ? 'o' : '-')).join('');
    expect(text).toMatch(/^o+-*o+$/);
  }
  expect(audits.flat()).toContain(false);

  // After midnight.
  for (const [plane] of urls.entries()) {
    for (const agent of limited) open.push(await openStream(plane, agent, 'after', 5));
    expect((await callPlainly(plane, run, 'after', 100)).status).toBe(200);
  }
  // Streams without a maximum grow in the old window: they are cut where it is full, though the new one has room.
  for (const stream of unstated) {
    streamUntilCut(stream.user);
    expect(await stream.text).toMatch(/"code":"budget_cut"/);
    const { agent, requestId } = stream;
    calls.push({ agentId: agent.id, requestId, admitted: 'before', costNanos: null });
  }
  await Promise.all(open.map((stream, i) => finishStream(stream, 100 * (1 + (i % 30)))));
  await stack.startControlPlane();

  // Every call is billed once, as its response stated.
  const records = new Map<string, { agentId: string; nanos: number }>();
  await waitForCondition(async () => {
    const rows = await sql<{ id: string; agentId: string; nanos: number }[]>`
      select id, agent_id as "agentId", cost_nanos::float8 as nanos from usage_records where org_id = ${orgId}`;
    for (const { id, ...record } of rows) records.set(id, record);
    return records.size >= calls.length;
  }, 'all calls in the ledger');
  expect(records.size).toBe(calls.length);
  for (const { requestId, agentId, costNanos } of calls) {
    const record = records.get(requestId)!;
    expect(record).toEqual({ agentId, nanos: costNanos ?? record.nanos });
  }

  // Spend of each agent in the old and the new windows. Which calls around midnight are in which one, the store says.
  const agents = [...limited, free];
  const sumCosts = (agentId: string, admitted?: Call['admitted']): number =>
    calls
      .filter((call) => call.agentId === agentId && (admitted === undefined || call.admitted === admitted))
      .reduce((sum, { requestId }) => sum + records.get(requestId)!.nanos, 0);
  const oldNanos = new Map<string, number>();
  for (const { id, tight } of agents) {
    const old = await readRedisNanos(`agent:${id}`, windowName('month', OLD));
    const around = sumCosts(id, 'around midnight');
    expect(old).toBeGreaterThanOrEqual(sumCosts(id, 'before'));
    expect(old).toBeLessThanOrEqual(sumCosts(id, 'before') + around);
    if (tight === null) {
      expect(old).toBeGreaterThan(sumCosts(id, 'before'));
      expect(old).toBeLessThan(sumCosts(id, 'before') + around);
    }
    if (tight?.mode === 'hard') expect(old).toBeLessThanOrEqual(TIGHT_CENTS * NANOS_PER_CENT);
    oldNanos.set(id, old);
  }
  const spentBy = (ids: readonly string[], sec: number): number =>
    ids.reduce((sum, id) => sum + (sec < turnSec ? oldNanos.get(id)! : sumCosts(id) - oldNanos.get(id)!), 0);

  // Redis and ledger, for each row and window.
  const allIds = agents.map(({ id }) => id);
  const rows = [...agents.flatMap((agent) => agent.rows.filter(isOwn)), ...free.rows.filter((row) => !isOwn(row))];
  expect(rows).toHaveLength(3 * agents.length + 1 + 4 + 4);
  const idsOf = ({ scope, scopeId }: Row): readonly string[] => (scope === 'agent' ? [scopeId] : allIds);
  const figures: Record<string, [redis: number, ledger: number]> = {};
  const expected: typeof figures = {};
  for (const row of rows) {
    for (const sec of [OLD, NEW]) {
      const window = windowName(row.window === 'total' ? 'month' : row.window, sec);
      const name = `${redisNameOf(row)} ${window}`;
      figures[name] = [await readRedisNanos(redisNameOf(row), window), await readLedgerNanos(row, window)];
      expected[name] = [spentBy(idsOf(row), sec), spentBy(idsOf(row), sec)];
    }
  }
  expect(figures).toEqual(expected);

  // `/v1/self` of each data plane, which shows the new windows.
  for (const [plane] of urls.entries()) {
    for (const agent of agents) {
      const { month, budgets } = await readSelf(plane, agent);
      expect(month).toBe(windowName('month', NEW));
      expect(budgets).toHaveLength(agent.rows.length);
      for (const { scope, window, spentUsd, heldUsd, resetAt } of budgets) {
        const ids = scope === 'agent' ? [agent.id] : allIds;
        const spent = spentBy(ids, NEW) + (window === 'total' ? spentBy(ids, OLD) : 0);
        const endSec = window === 'total' ? null : calendarWindowAt(window, NEW).endSec;
        expect([spentUsd, heldUsd, resetAt]).toEqual([toUsd(spent), 0, endSec]);
      }
    }
  }

  // The management API: budgets, and reports by day.
  const cents = (nanos: number): number => Math.round(nanos / NANOS_PER_CENT);
  const paths = [`projects/${projectId}`, `orgs/${orgId}`, ...allIds.map((id) => `agents/${id}`)];
  for (const path of paths) {
    const { agent, project, org } = (await tenant.call('GET', `/v1/${path}`)).body;
    const { id, budgets } = agent ?? project ?? org;
    expect(budgets.length).toBeGreaterThanOrEqual(3);
    for (const { window, spentCents } of budgets) {
      const ids = agent === undefined ? allIds : [id];
      expect(spentCents).toBe(cents(spentBy(ids, NEW) + (window === 'total' ? spentBy(ids, OLD) : 0)));
    }
  }
  for (const agentId of allIds) {
    for (const sec of [OLD, NEW]) {
      const day = windowName('day', sec);
      const { body } = await tenant.call('GET', `/v1/usage/summary?agentId=${agentId}&start=${day}&end=${day}`);
      expect(Math.round(body.costCents * NANOS_PER_CENT)).toBe(spentBy([agentId], sec));
    }
  }
  const { spentCents } = (await tenant.call('GET', `/v1/runs/${run.runId}`)).body.run;
  const ofRun = await readRedisNanos(`run:${run.runId}`, 'total');
  const [ledgerOfRun] = await sql<{ nanos: number }[]>`
    select sum(cost_nanos)::float8 as nanos from usage_records where run_id = ${run.runId}`;
  expect([ledgerOfRun!.nanos, spentCents]).toEqual([ofRun, cents(ofRun)]);
  expect(ofRun).toBeGreaterThan(3_300 * TOKEN_NANOS);
});

/**
 * Scenario 7: the effect of a hostile tenant on another tenant. Each result is measured alone and during the attack, in
 * the same run on the same process: a data plane for 400 concurrent calls, so that a flood of calls is a flood.
 */
import { request } from 'node:http';
import type { Stack, Tenant } from '@acg/test/fixtures/stack';
import { median, percentile } from '../statistics.js';
import type { Attack } from '../tenants/attacker-thread.js';
import { bombs, holdCalls, madeUpTokens } from '../tenants/data-plane-attacks.js';
import { webhookFigures } from '../tenants/delivery-time-beside-hanging-webhooks.js';
import { measureHangingLookups } from '../tenants/dial-time-beside-hanging-lookups.js';
import { startHangingNames } from '../tenants/hanging-names-through-proxy.js';
import { heavyReads } from '../tenants/heavy-reads.js';
import { call, type Neighbour, neighbourCalls } from '../tenants/neighbour.js';
import { type Bench, rounded, type Scenario, type ScenarioResult } from './scenario.js';

const SECONDS = 3;
/** Rounds alternate between alone and under attack; the median of each counts. */
const ROUNDS = 5;
const INFLIGHT_MAX = 400;
const REVOCATIONS = 40;
const ME_CALLS = 100;
const ME_ROUNDS = 3;
const WRONG_LOGINS = 400;

interface Row {
  readonly attack: string;
  readonly what: string;
  readonly quiet: number;
  readonly beside: number;
  readonly errors: number;
}

export const hostileTenant: Scenario = {
  name: 'tenants',
  title: 'a neighbour of a hostile tenant, alone and under attack',
  async run({ gateway }: Bench): Promise<ScenarioResult> {
    const { stack, token } = gateway;
    const { url } = await stack.addDataPlane({ MAX_INFLIGHT: String(INFLIGHT_MAX) });
    const neighbour = { url, token };
    await neighbourCalls(neighbour, 2); // warm
    const rows: Row[] = [];
    const dns = await measureHangingLookups();
    rows.push({
      attack: '40 names without an answer',
      what: 'p95 of a connect by name, ms',
      quiet: dns.quietP95Ms,
      beside: dns.besideP95Ms,
      errors: dns.failed,
    });
    const names = await startHangingNames(stack);
    await neighbourCalls(names, 2);
    rows.push(await besideAttack('40 providers with such names', names, () => names.begin()));
    names.stop();
    const attacks: readonly [string, () => Promise<Attack> | Attack][] = [
      ['10 bombs of 64 MiB a second', () => bombs(stack, url)],
      [`calls that hold ${INFLIGHT_MAX} places`, () => holdCalls(stack, url, INFLIGHT_MAX)],
      ['made-up tokens, 32 at once', () => madeUpTokens(url, 32)],
      ['made-up tokens, 256 at once', () => madeUpTokens(url, 256)],
    ];
    for (const [name, begin] of attacks) rows.push(await besideAttack(name, neighbour, begin));
    rows.push(await revocationRow(stack, url));
    const webhooks = await webhookFigures(stack);
    rows.push({
      attack: '300 hanging receivers',
      what: 'slowest delivery, ms',
      quiet: webhooks.quietMs,
      beside: webhooks.besideMs,
      errors: 0,
    });
    const reads = await heavyReads(gateway);
    rows.push(await meRow('60 exports of one session', stack, () => reads.exports()));
    rows.push(await meRow('60 comparisons and series', stack, () => reads.reports()));
    rows.push(await meRow(`${WRONG_LOGINS} wrong logins`, stack, () => wrongLogins(stack, WRONG_LOGINS)));
    return {
      figures: rows,
      rows: rows.map(({ quiet, beside, ...row }) => ({
        ...row,
        quiet: rounded(quiet),
        beside: rounded(beside),
        ratio: rounded(beside / quiet),
      })),
      charts: [],
      notes: [
        'the neighbour makes 100 calls per second to a provider that responds at once; attackers call from another client IP, on their own thread',
        'names are measured at the dialer, and as calls that each open a connection, against a separate name server that does not respond for the attacker’s names',
        'a revocation is from the DELETE of a key to the first 401 of a token that was cached',
      ],
    };
  },
};

/** The neighbour's calls, alternately alone and under attack. */
async function besideAttack(name: string, neighbour: Neighbour, begin: () => Promise<Attack> | Attack): Promise<Row> {
  const quiet: number[] = [];
  const beside: number[] = [];
  let errors = 0;
  for (let round = 0; round < ROUNDS; round++) {
    quiet.push((await neighbourCalls(neighbour, SECONDS)).p95Ms);
    const attack = await begin();
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    const figure = await neighbourCalls(neighbour, SECONDS);
    await attack.stop();
    beside.push(figure.p95Ms);
    errors += figure.errors;
  }
  return { attack: name, what: 'p95 of a call, ms', quiet: median(quiet), beside: median(beside), errors };
}

async function revocationRow(stack: Stack, url: string): Promise<Row> {
  const quiet = await revocations(stack, url, REVOCATIONS);
  const storm = madeUpTokens(url, 64);
  const beside = await revocations(stack, url, REVOCATIONS);
  await storm.stop();
  return {
    attack: 'made-up tokens, 64 at once',
    what: 'p99 of a revocation, ms',
    quiet: percentile(quiet, 99),
    beside: percentile(beside, 99),
    errors: 0,
  };
}

/** `GET /v1/me` of another user, alternately alone and under attack. */
async function meRow(name: string, stack: Stack, begin: () => Attack): Promise<Row> {
  const tenant = await stack.signUpTenant();
  const quiet: number[] = [];
  const beside: number[] = [];
  for (let round = 0; round < ME_ROUNDS; round++) {
    quiet.push(percentile(await meTimes(tenant), 95));
    const attack = begin();
    await new Promise((resolve) => setTimeout(resolve, 300));
    beside.push(percentile(await meTimes(tenant), 95));
    await attack.stop();
  }
  return { attack: name, what: 'p95 of GET /v1/me, ms', quiet: median(quiet), beside: median(beside), errors: 0 };
}

/** Milliseconds from the DELETE of each key to the first rejected call. */
async function revocations(stack: Stack, url: string, count: number): Promise<number[]> {
  const tenant = await stack.signUpTenant();
  const { id } = await tenant.createAgent({ rpmLimit: 1_000_000 });
  const took: number[] = [];
  for (let i = 0; i < count; i++) {
    const made = await tenant.call('POST', '/v1/api-keys', { name: 'k', agentId: id });
    const { secretKey } = made.body;
    while ((await call(url, secretKey, '/v1/self')) !== 200) await new Promise((resolve) => setTimeout(resolve, 50));
    const startTick = performance.now();
    const deleted = tenant.call('DELETE', `/v1/api-keys/${made.body.key.id}`);
    while ((await call(url, secretKey, '/v1/self')) === 200) {}
    took.push(performance.now() - startTick);
    await deleted;
  }
  return took;
}

async function meTimes(tenant: Tenant): Promise<number[]> {
  const took: number[] = [];
  for (let i = 0; i < ME_CALLS; i++) {
    const startTick = performance.now();
    const { status } = await tenant.call('GET', '/v1/me');
    if (status !== 200) throw new Error(`GET /v1/me: ${status}`);
    took.push(performance.now() - startTick);
  }
  return took;
}

/** All at once, from one other client IP. */
function wrongLogins(stack: Stack, count: number): Attack {
  const body = JSON.stringify({ email: 'nobody@example.com', password: 'wrong password 1' });
  const login = (): Promise<void> =>
    new Promise((resolve) => {
      const headers = { 'content-type': 'application/json', 'content-length': body.length };
      const options = { method: 'POST', headers, localAddress: '127.0.0.3' };
      const sent = request(`${stack.apiUrl}/v1/auth/login`, options, (response) => {
        response.resume();
        response.once('close', resolve);
      });
      sent.once('error', () => resolve());
      sent.end(body);
    });
  const all = Promise.all(Array.from({ length: count }, login));
  return { stop: async () => void (await all) };
}

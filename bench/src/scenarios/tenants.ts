/**
 * Scenario 7: what a neighbour notices of a hostile tenant. Each figure alone and beside the attack, in the same run on
 * the same process: a data plane with room for 400 calls, so that a flood of calls is a flood.
 */
import { request } from 'node:http';
import type { Stack } from '@acg/test/stack';
import { median, percentile } from '../statistics.js';
import { type Attack, bombs, holdCalls, madeUpTokens } from '../tenants/attacks.js';
import { lookupFigures } from '../tenants/lookups.js';
import { call, neighbourCalls } from '../tenants/neighbour.js';
import { webhookFigures } from '../tenants/receivers.js';
import { type Bench, rounded, type Scenario, type ScenarioResult } from './scenario.js';

const SECONDS = 3;
/** In turn alone and beside the attack; the median of each counts. */
const ROUNDS = 5;
const INFLIGHT_MAX = 400;
const REVOCATIONS = 40;
const ME_CALLS = 100;
const WRONG_LOGINS = 400;

interface Row {
  readonly attack: string;
  readonly what: string;
  readonly quiet: number;
  readonly beside: number;
  readonly errors: number;
}

export const tenants: Scenario = {
  name: 'tenants',
  title: 'a neighbour of a hostile tenant, alone and beside it',
  async run({ gateway }: Bench): Promise<ScenarioResult> {
    const { stack, token } = gateway;
    const { url } = await stack.addDataPlane({ MAX_INFLIGHT: String(INFLIGHT_MAX) });
    await neighbourCalls(url, token, 2); // warm
    const rows: Row[] = [];
    const dns = await lookupFigures();
    rows.push({
      attack: '40 names without an answer',
      what: 'p95 of a connect by name, ms',
      quiet: dns.quietP95Ms,
      beside: dns.besideP95Ms,
      errors: dns.failed,
    });
    const attacks: readonly [string, () => Promise<Attack> | Attack][] = [
      ['10 bombs of 64 MiB a second', () => bombs(stack, url)],
      [`calls that hold ${INFLIGHT_MAX} places`, () => holdCalls(stack, url, INFLIGHT_MAX)],
      ['made-up tokens, 32 at once', () => madeUpTokens(url, 32)],
    ];
    for (const [name, begin] of attacks) {
      const quiet: number[] = [];
      const beside: number[] = [];
      let errors = 0;
      for (let round = 0; round < ROUNDS; round++) {
        quiet.push((await neighbourCalls(url, token, SECONDS)).p95Ms);
        const attack = await begin();
        await new Promise((resolve) => setTimeout(resolve, 1_000));
        const figure = await neighbourCalls(url, token, SECONDS);
        await attack.stop();
        beside.push(figure.p95Ms);
        errors += figure.errors;
      }
      rows.push({ attack: name, what: 'p95 of a call, ms', quiet: median(quiet), beside: median(beside), errors });
    }
    const quietRevocations = await revocations(stack, url, REVOCATIONS);
    const storm = madeUpTokens(url, 64);
    const besideRevocations = await revocations(stack, url, REVOCATIONS);
    await storm.stop();
    rows.push({
      attack: 'made-up tokens, 64 at once',
      what: 'p99 of a revocation, ms',
      quiet: percentile(quietRevocations, 99),
      beside: percentile(besideRevocations, 99),
      errors: 0,
    });
    const webhooks = await webhookFigures(stack);
    rows.push({
      attack: '300 hanging receivers',
      what: 'slowest delivery, ms',
      quiet: webhooks.quietMs,
      beside: webhooks.besideMs,
      errors: 0,
    });
    const me = await meTimes(stack);
    const logins = wrongLogins(stack, WRONG_LOGINS);
    const besideMe = await meTimes(stack);
    await logins;
    rows.push({
      attack: `${WRONG_LOGINS} wrong logins`,
      what: 'p95 of GET /v1/me, ms',
      quiet: percentile(me, 95),
      beside: percentile(besideMe, 95),
      errors: 0,
    });
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
        'the neighbour makes 100 calls a second to a provider that answers at once; attackers call from another address',
        'names are measured at the dialer, against a name server of its own that stays silent for the attacker’s names',
        'a revocation is from the DELETE of a key to the first 401 of a token that was cached',
      ],
    };
  },
};

/** Milliseconds from the DELETE of each key to the first call that is refused. */
async function revocations(stack: Stack, url: string, count: number): Promise<number[]> {
  const tenant = await stack.tenant();
  const { id } = await tenant.agent({ rpmLimit: 1_000_000 });
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

async function meTimes(stack: Stack): Promise<number[]> {
  const tenant = await stack.tenant();
  const took: number[] = [];
  for (let i = 0; i < ME_CALLS; i++) {
    const startTick = performance.now();
    await tenant.call('GET', '/v1/me');
    took.push(performance.now() - startTick);
  }
  return took;
}

/** All at once, from one other address. */
async function wrongLogins(stack: Stack, count: number): Promise<void> {
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
  await Promise.all(Array.from({ length: count }, login));
}

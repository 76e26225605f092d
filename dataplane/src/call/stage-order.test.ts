/** When two checks fail, the earlier one decides the response (docs/contract.md#order-of-checks). */
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { AgentContext, Upstream } from '../context/agent-context.js';
import {
  createContext,
  createRejectedAdmission,
  createUpstream,
  GATEWAY_TOKEN,
  ProxyFixture,
} from './testing/proxy-fixture.js';
import { connectRaw, type RawPeer, RawUpstream } from './testing/raw-peer-fixture.js';

interface State {
  unknownToken: boolean;
  context: Partial<AgentContext>;
  upstream: Partial<Upstream>;
  calls: string[] | null;
  models: { allow: string[]; deny: string[] } | null;
}

const BUSY = 'org-busy';

/** In the order of the stages. */
const CHECKS: readonly (readonly [string, (state: State) => void])[] = [
  ['the token is unknown', (state) => Object.assign(state, { unknownToken: true })],
  ['the agent is paused', ({ context }) => Object.assign(context, { agentStatus: 'paused' })],
  [
    'the provider is not assigned',
    ({ context }) => Object.assign(context, { upstreams: new Map(), unassignedProviders: new Set(['openai']) }),
  ],
  ['the account needs credentials', ({ upstream }) => Object.assign(upstream, { accountStatus: 'needs_credentials' })],
  ['the policy allows other calls', (state) => Object.assign(state, { calls: ['GET /v1/models'] })],
  ['the organization has its share', ({ context }) => Object.assign(context, { orgId: BUSY })],
  ['the circuit is open', () => Object.assign(gateway, { circuit: { state: 'OPEN', epoch: 1, openUntilMs: 0 } })],
  ['the policy denies the model', (state) => Object.assign(state, { models: { allow: [], deny: ['gpt-5'] } })],
  ['a limit is reached', () => Object.assign(gateway, { admission: createRejectedAdmission('rpd', 1_900_000_000) })],
];

let upstream: RawUpstream;
let gateway: ProxyFixture;

beforeEach(async () => {
  upstream = await RawUpstream.start();
  gateway = await ProxyFixture.start(createContext([createUpstream(upstream.origin)], { orgId: BUSY }), {
    inflightPerOrgMax: 1,
  });
});
afterEach(async () => {
  await gateway.stop();
  upstream.stop();
});

async function called(): Promise<RawPeer> {
  const agent = await connectRaw(gateway.port);
  const body = '{"model":"gpt-5"}';
  agent.send(
    `POST /v1/proxy/openai/v1/chat/completions HTTP/1.1\r\nHost: gw\r\nAuthorization: Bearer ${GATEWAY_TOKEN}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  return agent;
}

/** Body of the rejection when all of these checks fail. */
async function refusedBy(...checks: readonly number[]): Promise<string> {
  const { circuit, admission } = gateway;
  const state: State = { unknownToken: false, context: {}, upstream: {}, calls: null, models: null };
  for (const check of checks) CHECKS[check]![1](state);
  const { calls, models } = state;
  const policy = calls === null && models === null ? null : { closed: false, calls, models };
  const modelCalls = [{ call: '* /v1/chat/completions', at: 'json' }];
  const account = createUpstream(upstream.origin, { policy, modelCalls, ...state.upstream });
  gateway.lookup = state.unknownToken
    ? { context: null, rejection: 'unknown_token' }
    : { context: createContext([account], state.context), rejection: null };
  const agent = await called();
  await agent.waitUntil(() => /\r\n\r\n\{.*\}$/s.test(agent.text));
  agent.socket.destroy();
  Object.assign(gateway, { circuit, admission });
  return agent.text.slice(agent.text.indexOf('\r\n\r\n') + 4);
}

test('order: of any two failing checks the earlier one decides the response, and only the limits are counted', async () => {
  await called(); // Uses the organization's only slot.
  await (await upstream.connection(0)).waitForText('\r\n\r\n');
  const sent = upstream.text;
  const alone: string[] = [];
  for (const check of CHECKS.keys()) alone.push(await refusedBy(check));
  expect(new Set(alone).size).toBe(CHECKS.length);
  const counted = gateway.admissions.length;
  for (const first of CHECKS.keys()) {
    for (let second = first + 1; second < CHECKS.length; second++) {
      const [one, other] = [CHECKS[first]![0], CHECKS[second]![0]];
      expect([one, other, await refusedBy(first, second)]).toEqual([one, other, alone[first]]);
    }
  }
  expect([gateway.admissions.length, upstream.text]).toEqual([counted, sent]);
});

/**
 * Checks random interleavings of lookups, answers, changes, invalidations and link resets against a model of the
 * control plane. After an invalidation was seen, the cache must never serve an older context that it affects.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createTestLimits } from '../limits/testing/agent-limits-fixture.js';
import { ContextCache, DEFAULT_CONTEXT_CACHE_OPTIONS, type Lookup, type Resolution } from './context-cache.js';
import { decodeContext } from './decode-context.js';
import { createContextMessage } from './testing/context-message-fixture.js';

const base = decodeContext(createContextMessage());
const AGENTS = 3;

type Step =
  | { do: 'lookup'; agent: number }
  | { do: 'compute'; nth: number } // the control plane reads its database for the nth waiting call
  | { do: 'arrive'; nth: number } // the nth computed answer reaches the data plane
  | { do: 'change'; agent: number } // committed at the next revision
  | { do: 'announce' } // the oldest change without an invalidation so far reaches the data plane
  | { do: 'reset' } // reconnect too late to replay
  | { do: 'drop' };

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('lookup' as const), agent: fc.nat(AGENTS - 1) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('compute' as const), nth: fc.nat(5) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('arrive' as const), nth: fc.nat(5) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('change' as const), agent: fc.nat(AGENTS - 1) }) },
  { weight: 2, arbitrary: fc.constant({ do: 'announce' as const }) },
  { weight: 1, arbitrary: fc.constant({ do: 'reset' as const }) },
  { weight: 1, arbitrary: fc.constant({ do: 'drop' as const }) },
);

/** Enough microtask turns for any answer to reach its caller. */
async function laterTurns(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await null;
}

class World {
  /** Per agent: what the database stores; shown as the context's spend. */
  readonly version = new Array<number>(AGENTS).fill(0);
  /** Per agent: the lowest version that may be served after the invalidations seen so far. */
  readonly floor = new Array<number>(AGENTS).fill(0);
  revision = 1;
  readonly unannounced: { revision: number; agent: number; version: number }[] = [];
  readonly calls: { agent: number; answer: (r: Resolution) => void }[] = [];
  readonly computed: { resolution: Resolution; answer: (r: Resolution) => void }[] = [];
  served = 0;
  /** Collected, because an exception inside the cache's callback would be lost. */
  readonly violations: string[] = [];
  readonly cache = new ContextCache(
    {
      resolve: (hash) => new Promise((answer) => this.calls.push({ agent: Number(hash), answer })),
      resolveMinted: () => Promise.reject(new Error('not requested')),
    },
    { ...DEFAULT_CONTEXT_CACHE_OPTIONS, ttlMs: 1e9, staleIfErrorMs: 1e9 },
  );

  constructor() {
    this.cache.reset(1);
    this.cache.onLinkUp();
  }

  check(agent: number, lookup: Lookup): void {
    if (lookup.context === null) return;
    this.served++;
    const { agentId, agentLimits } = lookup.context;
    const spentNanos = agentLimits.scopes[0]!.ledgerNanos;
    if (agentId !== `agent-${agent}`) this.violations.push(`agent ${agent} got ${agentId}`);
    const floor = this.floor[agent]!;
    if (spentNanos < floor) this.violations.push(`agent ${agent} served at ${spentNanos}, announced ${floor}`);
  }

  async run(one: Step): Promise<void> {
    switch (one.do) {
      case 'lookup': {
        const hit = this.cache.get(String(one.agent), '');
        if (hit !== null) this.check(one.agent, hit);
        else this.cache.resolve(String(one.agent), '', null, (lookup) => this.check(one.agent, lookup));
        break;
      }
      case 'compute': {
        const [call] = this.calls.splice(one.nth % Math.max(1, this.calls.length), 1);
        if (call === undefined) break;
        const agentId = `agent-${call.agent}`;
        const context = {
          ...base,
          agentId,
          agentLimits: createTestLimits({ agentId, spendFloorNanos: this.version[call.agent]! }),
        };
        this.computed.push({ resolution: { context, rejection: null, revision: this.revision }, answer: call.answer });
        break;
      }
      case 'arrive': {
        const [answer] = this.computed.splice(one.nth % Math.max(1, this.computed.length), 1);
        answer?.answer(answer.resolution);
        break;
      }
      case 'change': {
        const version = ++this.version[one.agent]!;
        this.unannounced.push({ revision: ++this.revision, agent: one.agent, version });
        break;
      }
      case 'announce': {
        const change = this.unannounced.shift();
        if (change === undefined) break;
        const id = `agent-${change.agent}`;
        this.cache.invalidate({ revision: change.revision, kind: 'agent', id, endsSessions: false });
        this.floor[change.agent] = change.version;
        break;
      }
      case 'reset':
        this.unannounced.length = 0;
        this.cache.reset(this.revision);
        this.version.forEach((version, agent) => {
          this.floor[agent] = version;
        });
        break;
      case 'drop':
        this.cache.onLinkDown();
        break;
    }
    await laterTurns();
  }
}

it('ContextCache: never serves a context that a seen invalidation has made outdated, in any interleaving', async () => {
  let served = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 80, size: 'max' }), async (steps) => {
      const world = new World();
      for (const one of steps) await world.run(one);
      expect(world.violations).toEqual([]);
      served += world.served;
    }),
    { numRuns: 150 },
  );
  expect(served).toBeGreaterThan(250); // without served contexts the property would hold trivially
});

import { describe, expect, it } from 'vitest';
import { createTestBudget, createTestLimits } from '../limits/testing/agent-limits-fixture.js';
import type { AgentContext } from './agent-context.js';
import {
  ContextCache,
  type ContextCacheOptions,
  type ContextResolver,
  DEFAULT_CONTEXT_CACHE_OPTIONS,
  type Lookup,
  type Resolution,
} from './context-cache.js';
import { decodeContext } from './decode-context.js';
import type { Invalidation } from './invalidation-matching-and-history.js';
import { createContextMessage } from './testing/context-message-fixture.js';

const HASH = 'a'.repeat(64);
const TTL_MS = 1_000;
const STALE_MS = 3_000;

const base = decodeContext(createContextMessage());
const found = (revision: number, change: Partial<AgentContext> = {}): Resolution => ({
  context: { ...base, ...change },
  rejection: null,
  revision,
});
const unknown = (revision: number): Resolution => ({ context: null, rejection: 'unknown_token', revision });
const invalidationAt = (revision: number, kind: Invalidation['kind'], id: string): Invalidation => ({
  revision,
  kind,
  id,
  endsSessions: false,
});

/** A control plane whose answers the test sends one by one. */
class Script implements ContextResolver {
  readonly asked: { hash: string; ref: string; answer(r: Resolution): void; fail(): void }[] = [];
  readonly minted: string[] = [];
  resolveMinted(hash: string, ref: string, accountId: string): Promise<Resolution> {
    this.minted.push(accountId);
    return this.resolve(hash, ref);
  }
  resolve(hash: string, ref: string): Promise<Resolution> {
    return new Promise((answer, reject) => {
      this.asked.push({ hash, ref, answer, fail: () => reject(new Error('unreachable')) });
    });
  }
}

function setUp(options: Partial<ContextCacheOptions> = {}) {
  const time = { steady: 0, wall: Date.UTC(2026, 10, 21) };
  const script = new Script();
  const cache = new ContextCache(script, {
    ...DEFAULT_CONTEXT_CACHE_OPTIONS,
    ttlMs: TTL_MS,
    staleIfErrorMs: STALE_MS,
    random: () => 1,
    clock: { steadyMs: () => time.steady, wallMs: () => time.wall },
    ...options,
  });
  cache.reset(1);
  cache.onLinkUp();
  const resolve = (hash = HASH, ref = '') => new Promise<Lookup>((done) => cache.resolve(hash, ref, null, done));
  return { time, script, cache, resolve };
}

/** Lets promise continuations run. */
const laterTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

async function filled(options: Partial<ContextCacheOptions> = {}) {
  const all = setUp(options);
  const first = all.resolve();
  all.script.asked[0]!.answer(found(1));
  await first;
  return all;
}

describe('ContextCache', () => {
  it('drops rejections with a reset', async () => {
    const { cache, script, resolve } = setUp();
    const first = resolve();
    script.asked[0]!.answer(unknown(1));
    await first;
    expect(cache.get(HASH, '')).toMatchObject({ rejection: 'unknown_token' });
    cache.reset(2);
    expect(cache.get(HASH, '')).toBeNull();
  });

  it('does not look up an agent name that is longer than any valid name', () => {
    const { cache } = setUp();
    expect(cache.get(HASH, 'x'.repeat(128))).toBeNull();
    expect(cache.get(HASH, 'x'.repeat(129))).toMatchObject({ rejection: 'agent_out_of_scope' });
  });

  it('serves a hit synchronously, and one resolve answers all waiting calls', async () => {
    const { cache, script, resolve } = setUp();
    expect(cache.get(HASH, '')).toBeNull();
    const waiting = [resolve(), resolve(), resolve()];
    expect(script.asked).toHaveLength(1);
    script.asked[0]!.answer(found(1));
    const lookups = await Promise.all(waiting);
    expect(lookups.every((lookup) => lookup.context?.agentId === 'agent-1')).toBe(true);
    expect(cache.get(HASH, '')).toBe(lookups[0]);
    expect(script.asked).toHaveLength(1);
  });

  it('keeps the agents of one project token apart', async () => {
    const { cache, script, resolve } = setUp();
    const a = resolve(HASH, 'a');
    const b = resolve(HASH, 'b');
    script.asked[1]!.answer(found(1, { agentId: 'b' }));
    script.asked[0]!.answer(found(1, { agentId: 'a' }));
    await Promise.all([a, b]);
    expect(cache.get(HASH, 'a')?.context?.agentId).toBe('a');
    expect(cache.get(HASH, 'b')?.context?.agentId).toBe('b');
    expect(cache.get(HASH, '')).toBeNull();
  });

  it('caches an unknown token for 5 s, then resolves it again', async () => {
    const { cache, script, resolve, time } = setUp();
    const first = resolve();
    script.asked[0]!.answer(unknown(1));
    expect((await first).rejection).toBe('unknown_token');
    time.steady = 4_999;
    expect(cache.get(HASH, '')?.rejection).toBe('unknown_token');
    time.steady = 5_000;
    expect(cache.get(HASH, '')).toBeNull();
  });

  it('does not evict contexts for unknown tokens', async () => {
    const { cache, script, resolve } = await filled({ rejectionsMax: 4, entriesMax: 2 });
    for (let i = 0; i < 20; i++) {
      const guess = resolve(`guess ${i}`);
      script.asked.at(-1)!.answer(unknown(1));
      await guess;
    }
    expect(cache.get(HASH, '')?.context?.agentId).toBe('agent-1');
  });

  it('rejects with 401 from the moment the key expires', async () => {
    const { cache, script, resolve, time } = setUp();
    const first = resolve();
    script.asked[0]!.answer(found(1, { keyExpiresAtMs: time.wall + 500 }));
    await first;
    time.wall += 499;
    expect(cache.get(HASH, '')?.rejection).toBeNull();
    time.wall += 1;
    expect(cache.get(HASH, '')?.rejection).toBe('unknown_token');
  });

  it('refreshes an entry past its TTL in the background and serves it meanwhile', async () => {
    const { cache, script, time } = await filled();
    time.steady = TTL_MS;
    expect(cache.get(HASH, '')?.context?.agentLimits.budgets[0]?.ledger[0]?.nanos ?? 0).toBe(0);
    cache.get(HASH, '');
    expect(script.asked).toHaveLength(2);
    script.asked[1]!.answer(
      found(1, { agentLimits: createTestLimits({ spendFloorNanos: 7, spendFloorMonth: '2026-11' }) }),
    );
    await laterTurn();
    expect(cache.get(HASH, '')?.context?.agentLimits.budgets[0]?.ledger[0]?.nanos).toBe(7);
  });

  it('keeps the entry after a failed refresh and retries 5 s later', async () => {
    const { cache, script, time } = await filled();
    time.steady = TTL_MS;
    cache.get(HASH, '');
    script.asked[1]!.fail();
    await laterTurn();
    expect(cache.get(HASH, '')?.context?.agentId).toBe('agent-1');
    expect(script.asked).toHaveLength(2);
    time.steady += 5_000;
    cache.get(HASH, '');
    expect(script.asked).toHaveLength(3);
  });

  it('without Watch, serves an entry for staleIfError after its last confirmation, then 503', async () => {
    const { cache, script, resolve, time } = await filled();
    time.steady = 500;
    cache.onLinkUp(); // the last heartbeat
    cache.onLinkDown();
    time.steady = 500 + STALE_MS;
    expect(cache.get(HASH, '')?.context?.agentId).toBe('agent-1');
    for (const one of script.asked.slice(1)) one.fail();
    await laterTurn();
    time.steady += 1;
    expect(cache.get(HASH, '')).toBeNull();
    const late = resolve();
    script.asked.at(-1)!.fail();
    expect((await late).rejection).toBe('unavailable');
  });

  it('without Watch, refreshes an entry that is used every 10 s', async () => {
    const { cache, script, time } = await filled({ ttlMs: 300_000, staleIfErrorMs: 900_000 });
    cache.onLinkDown();
    time.steady = 9_999;
    cache.get(HASH, '');
    expect(script.asked).toHaveLength(1);
    time.steady = 10_000;
    cache.get(HASH, '');
    script.asked[1]!.answer(unknown(2));
    await laterTurn();
    expect(cache.get(HASH, '')?.rejection).toBe('unknown_token');
  });

  it.each([
    ['key', 'key-1'],
    ['agent', 'agent-1'],
    ['project', 'project-1'],
    ['org', 'org-1'],
    ['provider', 'org-1/openai'],
    ['account', 'agent-1/account-1'],
  ] as const)('drops the entry on an invalidation of its %s only', async (kind, id) => {
    const { cache } = await filled();
    cache.invalidate(
      invalidationAt(2, kind, { provider: 'org-1/s3', account: 'agent-2/account-1' }[kind as string] ?? 'other'),
    );
    expect(cache.get(HASH, '')).not.toBeNull();
    cache.invalidate(invalidationAt(3, kind, id));
    expect(cache.get(HASH, '')).toBeNull();
    expect(cache.seenRevision).toBe(3);
  });

  it('keeps an entry that is at least as new as the invalidation', async () => {
    const { cache, script, resolve } = setUp();
    const first = resolve();
    script.asked[0]!.answer(found(5));
    await first;
    cache.invalidate(invalidationAt(5, 'agent', 'agent-1'));
    expect(cache.get(HASH, '')).not.toBeNull();
  });

  it('resolves again when an invalidation overtakes the answer', async () => {
    const { cache, script, resolve } = setUp();
    const first = resolve();
    cache.invalidate(invalidationAt(2, 'key', 'key-1'));
    script.asked[0]!.answer(found(1));
    await laterTurn();
    expect(script.asked).toHaveLength(2);
    script.asked[1]!.answer(unknown(2));
    expect((await first).rejection).toBe('unknown_token');
  });

  it('resolves again when a reset overtakes the answer', async () => {
    const { cache, script, resolve } = setUp();
    const first = resolve();
    cache.reset(1);
    script.asked[0]!.answer(found(9));
    await laterTurn();
    script.asked[1]!.answer(unknown(1));
    expect((await first).rejection).toBe('unknown_token');
  });

  it('drops contexts and rejections on a reset', async () => {
    const { cache, script, resolve } = await filled();
    const second = resolve('b'.repeat(64));
    script.asked[1]!.answer(unknown(1));
    await second;
    expect([cache.get(HASH, '')?.rejection, cache.get('b'.repeat(64), '')?.rejection]).toEqual([null, 'unknown_token']);
    cache.reset(1);
    expect([cache.get(HASH, ''), cache.get('b'.repeat(64), ''), cache.size]).toEqual([null, null, 0]);
  });

  it('rejects a too long agent name as out of scope without a resolve', () => {
    const { cache } = setUp();
    expect(cache.get(HASH, 'a'.repeat(128))).toBeNull();
    expect(cache.get(HASH, 'a'.repeat(129))?.rejection).toBe('agent_out_of_scope');
  });

  it('rejects with 503 when every answer is overtaken', async () => {
    const { cache, script, resolve } = setUp();
    const first = resolve();
    for (let revision = 2; revision < 7; revision++) {
      cache.invalidate(invalidationAt(revision, 'org', 'org-1'));
      script.asked.at(-1)!.answer(found(revision - 1));
      await laterTurn();
    }
    expect((await first).rejection).toBe('unavailable');
    expect(cache.get(HASH, '')).toBeNull();
  });

  const keep = async (
    { script, resolve }: ReturnType<typeof setUp>,
    name: string,
    orgId: string,
    agentName = '',
  ): Promise<void> => {
    const one = resolve(name);
    script.asked.at(-1)!.answer(found(1, { keyId: name, agentId: name, orgId, agentName }));
    await one;
  };

  it.each([
    ['entries', { entriesMax: 12 }],
    ['bytes', { bytesMax: 12 * 6_200 }],
  ])('an organization that calls with many tokens takes no %s from others', async (_what, options) => {
    const all = setUp(options);
    for (let i = 0; i < 3; i++) await keep(all, `theirs ${i}`, 'theirs');
    for (let i = 0; i < 200; i++) await keep(all, `hers ${i}`, 'hers');
    const kept = [0, 1, 2].map((i) => all.cache.get(`theirs ${i}`, '')?.context?.orgId);
    expect(kept).toEqual(['theirs', 'theirs', 'theirs']);
    // The other entries belong to the second organization, and its newest are cached.
    expect(all.cache.size).toBeGreaterThan(10);
    expect(all.cache.get('hers 199', '')?.context?.orgId).toBe('hers');
    expect(all.cache.get('hers 0', '')).toBeNull();
  });

  it('an organization below its share gets it from the least recently used entries', async () => {
    const all = setUp({ entriesMax: 12 });
    for (let i = 0; i < 12; i++) await keep(all, `hers ${i}`, 'hers');
    all.cache.get('hers 0', '');
    for (let i = 0; i < 6; i++) await keep(all, `theirs ${i}`, 'theirs');
    const kept = (name: string) => all.cache.get(name, '') !== null;
    expect([0, 1, 2, 3, 4, 5].every((i) => kept(`theirs ${i}`))).toBe(true);
    expect([kept('hers 0'), kept('hers 1'), kept('hers 11')]).toEqual([true, false, true]);
    await keep(all, 'theirs 6', 'theirs');
    expect(all.cache.size).toBe(12);
  });

  it('an organization whose contexts grow takes no bytes from others', async () => {
    const all = setUp({ bytesMax: 12 * 6_200 });
    for (let i = 0; i < 3; i++) await keep(all, `theirs ${i}`, 'theirs');
    for (let i = 0; i < 9; i++) await keep(all, `hers ${i}`, 'hers');
    for (let i = 0; i < 9; i++) await keep(all, `hers ${i}`, 'hers', 'x'.repeat(2_500));
    const kept = [0, 1, 2].map((i) => all.cache.get(`theirs ${i}`, '')?.context?.orgId);
    expect(kept).toEqual(['theirs', 'theirs', 'theirs']);
    expect(all.cache.get('hers 8', '')?.context?.agentName).toHaveLength(2_500);
  });

  it('a single organization may use the whole cache, and its used entries stay', async () => {
    const all = setUp({ entriesMax: 4 });
    for (let i = 0; i < 4; i++) await keep(all, `hers ${i}`, 'hers');
    all.cache.get('hers 0', '');
    await keep(all, 'hers 4', 'hers');
    expect([all.cache.get('hers 0', '') !== null, all.cache.get('hers 1', ''), all.cache.size]).toEqual([
      true,
      null,
      4,
    ]);
  });

  it('stays within bytesMax', async () => {
    const { cache, script, resolve } = setUp({ bytesMax: 20_000 });
    for (let i = 0; i < 50; i++) {
      const one = resolve(`hash ${i}`);
      script.asked.at(-1)!.answer(found(1, { keyId: `key ${i}` }));
      await one;
    }
    expect(cache.size).toBeGreaterThan(1);
    expect(cache.size).toBeLessThan(8);
  });

  it('counts the bytes of budget rows and their models', async () => {
    const models = Array.from({ length: 20 }, (_, i) => `${'m'.repeat(200)}${i}`);
    const budgets = Array.from({ length: 20 }, (_, i) => createTestBudget({ id: `row-${i}`, models }));
    const { cache, script, resolve } = setUp({ bytesMax: 1_000_000 });
    for (let i = 0; i < 20; i++) {
      const one = resolve(`hash ${i}`);
      script.asked.at(-1)!.answer(found(1, { keyId: `key ${i}`, agentLimits: createTestLimits({ budgets }) }));
      await one;
    }
    expect(cache.size).toBe(4); // 245 KB each
  });
});

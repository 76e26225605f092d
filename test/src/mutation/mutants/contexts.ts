import type { Mutant } from '../mutant.js';

/** What a data plane keeps of gateway tokens, and how it asks about them. */
export const CONTEXTS: readonly Mutant[] = [
  {
    file: 'dataplane/src/context/context-cache.ts',
    find: `      if (entry.revision < invalidation.revision) this.#entries.delete(entry.cacheKey);
`,
    put: `      if (entry.revision > invalidation.revision) this.#entries.delete(entry.cacheKey);
`,
    bug: 'an invalidated context is served on',
    tests: ['dataplane/src/context/context-cache.test.ts'],
  },
  {
    file: 'dataplane/src/context/context-cache.ts',
    find: `      if (this.#recent.isOutdated(answer.revision, answer.context)) continue;
`,
    put: '',
    bug: 'a response overtaken by an invalidation is served',
    tests: ['dataplane/src/context/context-cache.test.ts'],
  },
  {
    file: 'dataplane/src/context/context-cache.ts',
    find: `      if (generation !== this.#generation) continue;
`,
    put: '',
    bug: 'a response from before a reset is served',
    tests: ['dataplane/src/context/context-cache.test.ts'],
  },
  {
    file: 'dataplane/src/context/context-cache.ts',
    find: '      if (nowMs - confirmedAtMs > this.#options.staleIfErrorMs) {',
    put: '      if (nowMs < confirmedAtMs) {',
    bug: 'a context is served for ever while disconnected',
    tests: ['dataplane/src/context/context-cache.test.ts'],
  },
  {
    file: 'dataplane/src/context/context-cache.ts',
    find: `    if (expiresAtMs !== null && this.#options.clock.wallMs() >= expiresAtMs) return UNKNOWN_TOKEN;
`,
    put: '',
    bug: 'a cached key never expires',
    tests: ['dataplane/src/context/context-cache.test.ts'],
  },
  {
    file: 'dataplane/src/context/context-cache.ts',
    find: `    if (rejection !== undefined && nowMs < rejection.untilMs) {`,
    put: `    if (rejection !== undefined) {`,
    bug: 'a newly created token stays rejected',
    tests: ['dataplane/src/context/context-cache.test.ts'],
  },
  {
    file: 'dataplane/src/context/context-cache.ts',
    find: `  agentRef === '' ? tokenHash : \`\${tokenHash} \${agentRef}\`;`,
    put: `  agentRef === '!' ? agentRef : tokenHash;`,
    bug: 'a key of several agents gets the context of another one',
    tests: ['dataplane/src/context/context-cache.test.ts', 'dataplane/src/context/context-cache.property.test.ts'],
  },
  {
    file: 'dataplane/src/context/context-cache.ts',
    find: `    this.#entries.delete(cacheKey);
    const entry = {
      context: null`,
    put: '    const entry = { context: null',
    bug: 'a refresh of a deleted token keeps its context',
    tests: ['dataplane/src/context/context-cache.test.ts', 'dataplane/src/context/context-cache.property.test.ts'],
  },
  {
    file: 'dataplane/src/context/context-cache.ts',
    find: `    this.#entries.clear();
    this.#rejections.clear();`,
    put: `    this.#rejections.clear();`,
    bug: 'a reset keeps unconfirmed contexts',
    tests: ['dataplane/src/context/context-cache.test.ts'],
  },
  {
    file: 'dataplane/src/context/context-cache.ts',
    find: `    this.#isLinkUp = false;
  }

  /** Drops the entries that`,
    put: `  }

  /** Drops the entries that`,
    bug: 'a disconnected cache trusts all entries',
    tests: ['dataplane/src/context/context-cache.test.ts'],
  },
  {
    file: 'dataplane/src/context/context-cache.ts',
    find: `    if (agentRef.length > AGENT_REF_CHARS_MAX) return OUT_OF_SCOPE;
`,
    put: '',
    bug: 'long names of agents fill the cache',
    tests: ['dataplane/src/context/context-cache.test.ts'],
  },
  {
    file: 'dataplane/src/context/context-cache.ts',
    find: `    if (waiting !== undefined) {
      waiting.push(done);`,
    put: `    if (waiting === null) {
      waiting!.push(done);`,
    bug: 'a cold start sends one lookup per request',
    tests: ['dataplane/src/context/context-cache.test.ts'],
  },
  {
    file: 'dataplane/src/context/unauthenticated-rate-limiter.ts',
    find: `    const expected = bucket.lookupAllowance < this.#burst ? bucket.pendingLookups : 0;`,
    put: '    const expected = 0;',
    bug: 'concurrent guesses test more tokens than sequential ones',
    tests: ['dataplane/src/context/unauthenticated-rate-limiter.test.ts'],
  },
  {
    file: 'dataplane/src/context/unauthenticated-rate-limiter.ts',
    find: `    bucket.pendingLookups--;
`,
    put: '',
    bug: 'answered lookups still count',
    tests: ['dataplane/src/context/unauthenticated-rate-limiter.test.ts'],
  },
  {
    file: 'dataplane/src/context/unauthenticated-rate-limiter.ts',
    find: `    if (unknown) bucket.lookupAllowance`,
    put: `    if (!unknown) bucket.lookupAllowance`,
    bug: 'known tokens count as guesses',
    tests: ['dataplane/src/context/unauthenticated-rate-limiter.test.ts'],
  },
  {
    file: 'dataplane/src/context/resolve-batcher.ts',
    find: `    if (++this.#waiting > PENDING_QUERIES_MAX) this.#dropNewestOfLongest();`,
    put: '    ++this.#waiting;',
    bug: 'made-up tokens fill the memory',
    tests: ['dataplane/src/context/resolve-batcher.test.ts'],
  },
  {
    file: 'dataplane/src/context/invalidation-index.ts',
    find: `    if (kind === 'account') return [...(this.#byAgent.get(parseOwnerId(id)) ?? [])];`,
    put: `    if (kind === 'account') return [];`,
    bug: 'a removed account is still used',
    tests: ['dataplane/src/context/context-cache.test.ts'],
  },
  {
    file: 'dataplane/src/context/invalidation-index.ts',
    find: `    removeFromBucket(this.#byProject, context.projectId, entry);
`,
    put: '',
    bug: 'evicted entries stay in the index',
    tests: ['dataplane/src/context/invalidation-index.test.ts'],
  },
];

import type { Area } from '../mutant.js';

const SERVER = 'controlplane/src/grpc/grpc-server.ts';
const SECURITY = 'proto/src/link-security.ts';
const SOURCE = 'dataplane/src/context/control-plane-link.ts';
const CACHE = 'dataplane/src/context/context-cache.ts';
const INVALIDATION = 'dataplane/src/context/invalidation.ts';
const TLS = ['test/src/plane-link/mutual-tls.test.ts'];
const CONTEXTS = ['dataplane/src/context'];
const SUPERVISION = [
  'dataplane/src/context',
  'test/src/plane-link/watch-stream.test.ts',
  'test/src/plane-link/change-propagation.test.ts',
];

export const LINK: Area = {
  name: 'link',
  tests: ['test/src/plane-link/authorization.test.ts', 'test/src/plane-link/mutual-tls.test.ts'],
  built: false,
  mutants: [
    {
      file: SERVER,
      find: `if (isLinkAuthorized(security, call.metadata)) return handler(call, done);`,
      put: `if (isLinkAuthorized(security, call.metadata) || true) return handler(call, done);`,
      bug: 'unary calls are open to everybody',
    },
    {
      file: SERVER,
      find: `if (isLinkAuthorized(security, call.metadata)) return handler(call);`,
      put: `if (isLinkAuthorized(security, call.metadata) || true) return handler(call);`,
      bug: 'the watch is open to everybody',
    },
    {
      file: SECURITY,
      find: '[{ cert_chain: cert, private_key: key }], true)',
      put: '[{ cert_chain: cert, private_key: key }], false)',
      bug: 'no certificate is asked of a data plane',
      tests: TLS,
    },
    {
      file: SECURITY,
      find: 'return ChannelCredentials.createSsl(security.tls.ca,',
      put: 'return ChannelCredentials.createSsl(null,',
      bug: 'a data plane does not look at who signed for the control plane',
      tests: TLS,
    },
    {
      file: SECURITY,
      find: 'if (security.internalTokens.length === 0) return security.tls !== null;',
      put: 'if (security.tls !== null) return true;',
      bug: 'with mutual TLS the token is not looked at',
      tests: TLS,
    },
    {
      file: SECURITY,
      find: 'if (security.internalTokens.length === 0) return security.tls !== null;',
      put: 'if (security.internalTokens.length === 0) return true;',
      bug: 'without TLS and without a token everybody is authorized',
      tests: ['proto/src/link-security.test.ts'],
    },
    {
      file: SECURITY,
      find: `security.internalTokens.some((token) => isEqualInConstantTime(given, \`Bearer \${token.reveal()}\`));`,
      put: 'security.internalTokens.some((token) => given.endsWith(token.reveal()));',
      bug: 'the token counts in any scheme',
    },
    {
      file: SECURITY,
      find: `security.internalTokens.some((token) => isEqualInConstantTime(given, \`Bearer \${token.reveal()}\`));`,
      put: `isEqualInConstantTime(given, \`Bearer \${security.internalTokens[0]!.reveal()}\`);`,
      bug: 'the second token is not taken while it is being replaced',
      tests: ['proto/src/link-security.test.ts'],
    },
    {
      file: SECURITY,
      find: "if (LOOPBACK.test(address.replace(/:\\d+$/, ''))) continue;",
      put: 'continue;',
      bug: 'the link leaves the machine in plain text',
      tests: ['proto/src/link-security.test.ts', ...TLS],
    },
    {
      file: SECURITY,
      find: `if (set !== 0 && set !== FILES.length) read.addProblem(\`\${FILES.join(', ')} must be set together or not at all\`);`,
      put: '',
      bug: 'a certificate without its key is plain text without a word',
      tests: ['proto/src/link-security.test.ts', ...TLS],
    },
    {
      file: SOURCE,
      find: 'const isReset = (hello.reset ?? false) || cache.seenRevision === 0;',
      put: 'const isReset = hello.reset ?? false;',
      bug: 'what was resolved before the first word stays, though nothing can be replayed',
      tests: SUPERVISION,
    },
    {
      file: SOURCE,
      find: 'if (isReset) this.#listener.onReset();',
      put: '',
      bug: 'after a reset open sessions are not looked at again',
      tests: [...SUPERVISION, 'test/src/websocket/open-connection-revocation.test.ts'],
    },
    {
      file: SOURCE,
      find: `if (this.#cache!.seenRevision < this.#catchUpRevision!) return;`,
      put: '',
      bug: 'the cache is trusted before all that was missed is replayed',
      tests: SUPERVISION,
    },
    {
      file: SOURCE,
      find: 'if (known === null) throw new Error(`unknown kind of invalidation ${kind}`);',
      put: 'if (known === null) return;',
      bug: 'an invalidation that is not understood is passed over',
      tests: SUPERVISION,
    },
    {
      file: SOURCE,
      find: '      this.#cache!.reset(0);\n',
      put: '',
      bug: 'after a word that was not understood the cache is still trusted',
      tests: SUPERVISION,
    },
    {
      file: SOURCE,
      find: 'if (invalidation.endsSessions) this.#listener.onSessionsEnd(invalidation);',
      put: '',
      bug: 'a revocation ends nothing that is open',
      tests: SUPERVISION,
    },
    {
      file: SOURCE,
      find: `if (error.code === grpcStatus.FAILED_PRECONDITION) {`,
      put: `if (error.code === grpcStatus.ABORTED) {`,
      bug: 'a data plane that must not run goes on',
      tests: SUPERVISION,
    },
    {
      file: SOURCE,
      find: `      this.#client.preferOtherThan(call.address);
`,
      put: '',
      bug: 'after silence the same control plane is asked again',
      tests: SUPERVISION,
    },
    {
      file: SOURCE,
      find: `    this.#cache?.onLinkDown();
`,
      put: '',
      bug: 'a cache goes on for ever without a link',
      tests: SUPERVISION,
    },
    {
      file: SOURCE,
      find: '    if (this.#logged.has(kind)) return;\n',
      put: '',
      bug: 'an outage is a flood of lines',
      tests: SUPERVISION,
    },
    {
      file: SOURCE,
      find: 'const text = maskSecrets(error instanceof Error ? error.message : String(error));',
      put: 'const text = error instanceof Error ? error.message : String(error);',
      bug: 'what a control plane says is logged as it is',
      tests: SUPERVISION,
      equivalent: 'the logger masks every line that it writes by the same rules',
    },
    {
      file: CACHE,
      find: 'if (expiresAtMs !== null && this.#options.clock.wallMs() >= expiresAtMs) return UNKNOWN_TOKEN;',
      put: '',
      bug: 'a key that is over is good as long as it is cached',
      tests: CONTEXTS,
    },
    {
      file: CACHE,
      find: 'if (nowMs - confirmedAtMs > this.#options.staleIfErrorMs) {',
      put: 'if (nowMs - confirmedAtMs > 1e12) {',
      bug: 'without a link what is cached is good for ever',
      tests: CONTEXTS,
    },
    {
      file: CACHE,
      find: 'if (entry.revision < invalidation.revision) this.#entries.delete(entry.cacheKey);',
      put: 'this.#entries.delete(entry.cacheKey);',
      bug: 'a context that is newer than its invalidation goes',
      tests: CONTEXTS,
    },
    {
      file: CACHE,
      find: `if (this.#recent.isOutdated(answer.revision, answer.context)) continue;`,
      put: '',
      bug: 'an answer that an invalidation has overtaken is kept',
      tests: CONTEXTS,
    },
    {
      file: CACHE,
      find: 'if (generation !== this.#generation) continue;',
      put: '',
      bug: 'an answer from before a reset is kept',
      tests: CONTEXTS,
    },
    {
      file: CACHE,
      find: `    this.#rejections.clear();
`,
      put: '',
      bug: 'refusals outlive a reset',
      tests: CONTEXTS,
    },
    {
      file: CACHE,
      find: `if (rejection !== undefined && nowMs < rejection.untilMs) {`,
      put: `if (rejection !== undefined) {`,
      bug: 'a token that was refused once is refused for ever',
      tests: CONTEXTS,
    },
    {
      file: CACHE,
      find: `    this.#entries.delete(cacheKey);
    const entry = {
      context: null`,
      put: '    const entry = { context: null',
      bug: 'a refusal leaves what was cached before it in place',
      tests: CONTEXTS,
    },
    {
      file: CACHE,
      find: "agentRef === '' ? tokenHash : `${tokenHash} ${agentRef}`",
      put: 'tokenHash + agentRef.slice(0, 0)',
      bug: 'a token gives the context of the agent that was named last',
      tests: CONTEXTS,
    },
    {
      file: CACHE,
      find: 'if (agentRef.length > AGENT_REF_CHARS_MAX) return OUT_OF_SCOPE;',
      put: '',
      bug: 'names of any length are looked up and kept',
      tests: CONTEXTS,
    },
    {
      file: INVALIDATION,
      find: `if (revision < this.#lastOverwrittenRevision) return true;`,
      put: '',
      bug: 'what was overwritten in the memory of invalidations is not feared',
      tests: CONTEXTS,
    },
    {
      file: INVALIDATION,
      find: 'if (one.revision <= revision) return false;',
      put: 'if (one.revision < revision) return false;',
      bug: 'a context that knows of an invalidation is asked for again and again',
      tests: CONTEXTS,
    },
    {
      file: INVALIDATION,
      find: `if (invalidation.kind === 'provider') return parsePartId(invalidation.id) === providerSlug;`,
      put: '',
      bug: 'a changed provider ends the sessions of every other one',
      tests: [...CONTEXTS, 'dataplane/src/call/revocation.test.ts'],
    },
    {
      file: INVALIDATION,
      find: `return context.orgId === parseOwnerId(id) && context.upstreams.has(parsePartId(id));`,
      put: `return context.upstreams.has(parsePartId(id));`,
      bug: "another organization's provider of that name ends sessions",
      tests: CONTEXTS,
    },
    {
      file: INVALIDATION,
      find: `return context.upstreams.get(providerSlug)?.accountId === parsePartId(invalidation.id);`,
      put: 'return true;',
      bug: 'a deleted account ends the sessions of the agent with every provider',
      tests: [...CONTEXTS, 'dataplane/src/call/revocation.test.ts'],
    },
  ],
};

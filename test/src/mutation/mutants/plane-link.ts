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
      bug: 'unary calls need no authorization',
    },
    {
      file: SERVER,
      find: `if (isLinkAuthorized(security, call.metadata)) return handler(call);`,
      put: `if (isLinkAuthorized(security, call.metadata) || true) return handler(call);`,
      bug: 'the watch stream needs no authorization',
    },
    {
      file: SECURITY,
      find: '[{ cert_chain: cert, private_key: key }], true)',
      put: '[{ cert_chain: cert, private_key: key }], false)',
      bug: 'no certificate is requested from a data plane',
      tests: TLS,
    },
    {
      file: SECURITY,
      find: 'return ChannelCredentials.createSsl(security.tls.ca,',
      put: 'return ChannelCredentials.createSsl(null,',
      bug: 'a data plane does not check the CA of the control plane',
      tests: TLS,
    },
    {
      file: SECURITY,
      find: 'if (security.internalTokens.length === 0) return security.tls !== null;',
      put: 'if (security.tls !== null) return true;',
      bug: 'with mutual TLS the token is not checked',
      tests: TLS,
    },
    {
      file: SECURITY,
      find: 'if (security.internalTokens.length === 0) return security.tls !== null;',
      put: 'if (security.internalTokens.length === 0) return true;',
      bug: 'without TLS and without a token every caller is authorized',
      tests: ['proto/src/link-security.test.ts'],
    },
    {
      file: SECURITY,
      find: `security.internalTokens.some((token) => isEqualInConstantTime(given, \`Bearer \${token.reveal()}\`));`,
      put: 'security.internalTokens.some((token) => given.endsWith(token.reveal()));',
      bug: 'the token is accepted in any scheme',
    },
    {
      file: SECURITY,
      find: `security.internalTokens.some((token) => isEqualInConstantTime(given, \`Bearer \${token.reveal()}\`));`,
      put: `isEqualInConstantTime(given, \`Bearer \${security.internalTokens[0]!.reveal()}\`);`,
      bug: 'the second token is not accepted during rotation',
      tests: ['proto/src/link-security.test.ts'],
    },
    {
      file: SECURITY,
      find: "if (LOOPBACK.test(address.replace(/:\\d+$/, ''))) continue;",
      put: 'continue;',
      bug: 'the plane link leaves the machine in plain text',
      tests: ['proto/src/link-security.test.ts', ...TLS],
    },
    {
      file: SECURITY,
      find: `if (set !== 0 && set !== FILES.length) read.addProblem(\`\${FILES.join(', ')} must be set together or not at all\`);`,
      put: '',
      bug: 'a certificate without its key means plain text without an error',
      tests: ['proto/src/link-security.test.ts', ...TLS],
    },
    {
      file: SOURCE,
      find: 'const isReset = (hello.reset ?? false) || cache.seenRevision === 0;',
      put: 'const isReset = hello.reset ?? false;',
      bug: 'contexts resolved before the first message stay although nothing can be replayed',
      tests: SUPERVISION,
    },
    {
      file: SOURCE,
      find: 'if (isReset) this.#listener.onReset();',
      put: '',
      bug: 'open sessions are not rechecked after a reset',
      tests: [...SUPERVISION, 'test/src/websocket/open-connection-revocation.test.ts'],
    },
    {
      file: SOURCE,
      find: `if (this.#cache!.seenRevision < this.#catchUpRevision!) return;`,
      put: '',
      bug: 'the cache is trusted before the replay is complete',
      tests: SUPERVISION,
    },
    {
      file: SOURCE,
      find: 'if (known === null) throw new Error(`unknown kind of invalidation ${kind}`);',
      put: 'if (known === null) return;',
      bug: 'an unknown invalidation is skipped',
      tests: SUPERVISION,
    },
    {
      file: SOURCE,
      find: '      this.#cache!.reset(0);\n',
      put: '',
      bug: 'the cache is still trusted after an unknown message',
      tests: SUPERVISION,
    },
    {
      file: SOURCE,
      find: 'if (invalidation.endsSessions) this.#listener.onSessionsEnd(invalidation);',
      put: '',
      bug: 'a revocation ends no open call',
      tests: SUPERVISION,
    },
    {
      file: SOURCE,
      find: `if (error.code === grpcStatus.FAILED_PRECONDITION) {`,
      put: `if (error.code === grpcStatus.ABORTED) {`,
      bug: 'a data plane that must stop continues',
      tests: SUPERVISION,
    },
    {
      file: SOURCE,
      find: `      this.#client.preferOtherThan(call.address);
`,
      put: '',
      bug: 'after silence the same control plane is tried again',
      tests: SUPERVISION,
    },
    {
      file: SOURCE,
      find: `    this.#cache?.onLinkDown();
`,
      put: '',
      bug: 'a disconnected cache is used for ever',
      tests: SUPERVISION,
    },
    {
      file: SOURCE,
      find: '    if (this.#logged.has(kind)) return;\n',
      put: '',
      bug: 'an outage floods the log',
      tests: SUPERVISION,
    },
    {
      file: SOURCE,
      find: 'const text = maskSecrets(error instanceof Error ? error.message : String(error));',
      put: 'const text = error instanceof Error ? error.message : String(error);',
      bug: 'messages of a control plane are logged unmasked',
      tests: SUPERVISION,
      equivalent: 'the logger masks every line that it writes by the same rules',
    },
    {
      file: CACHE,
      find: 'if (expiresAtMs !== null && this.#options.clock.wallMs() >= expiresAtMs) return UNKNOWN_TOKEN;',
      put: '',
      bug: 'an expired key is valid as long as it is cached',
      tests: CONTEXTS,
    },
    {
      file: CACHE,
      find: 'if (nowMs - confirmedAtMs > this.#options.staleIfErrorMs) {',
      put: 'if (nowMs - confirmedAtMs > 1e12) {',
      bug: 'cached entries are valid for ever while disconnected',
      tests: CONTEXTS,
    },
    {
      file: CACHE,
      find: 'if (entry.revision < invalidation.revision) this.#entries.delete(entry.cacheKey);',
      put: 'this.#entries.delete(entry.cacheKey);',
      bug: 'a context newer than its invalidation is dropped',
      tests: CONTEXTS,
    },
    {
      file: CACHE,
      find: `if (this.#recent.isOutdated(answer.revision, answer.context)) continue;`,
      put: '',
      bug: 'a response overtaken by an invalidation is kept',
      tests: CONTEXTS,
    },
    {
      file: CACHE,
      find: 'if (generation !== this.#generation) continue;',
      put: '',
      bug: 'a response from before a reset is kept',
      tests: CONTEXTS,
    },
    {
      file: CACHE,
      find: `    this.#rejections.clear();
`,
      put: '',
      bug: 'rejections outlive a reset',
      tests: CONTEXTS,
    },
    {
      file: CACHE,
      find: `if (rejection !== undefined && nowMs < rejection.untilMs) {`,
      put: `if (rejection !== undefined) {`,
      bug: 'a token that was rejected once is rejected for ever',
      tests: CONTEXTS,
    },
    {
      file: CACHE,
      find: `    this.#entries.delete(cacheKey);
    const entry = {
      context: null`,
      put: '    const entry = { context: null',
      bug: 'a rejection keeps an older cached context',
      tests: CONTEXTS,
    },
    {
      file: CACHE,
      find: "agentRef === '' ? tokenHash : `${tokenHash} ${agentRef}`",
      put: 'tokenHash + agentRef.slice(0, 0)',
      bug: 'a token returns the context of the agent that was named last',
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
      bug: 'overwritten entries of the invalidation history are ignored',
      tests: CONTEXTS,
    },
    {
      file: INVALIDATION,
      find: 'if (one.revision <= revision) return false;',
      put: 'if (one.revision < revision) return false;',
      bug: 'a context that includes an invalidation is resolved repeatedly',
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

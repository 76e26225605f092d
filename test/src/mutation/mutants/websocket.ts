import type { Area } from '../mutant.js';

const SESSION = 'dataplane/src/websocket/websocket-session.ts';
const SESSIONS = 'dataplane/src/websocket/session-registry.ts';
const UPGRADE = 'dataplane/src/websocket/upgrade-stages.ts';
const OUTBOX = 'dataplane/src/websocket/agent-outbox.ts';
const POOL = 'dataplane/src/websocket/memory-pool.ts';
const ACCESS_TOKEN = 'dataplane/src/websocket/supabase-access-token.ts';

export const WEBSOCKET: Area = {
  name: 'websocket',
  tests: ['dataplane/src/websocket'],
  built: false,
  mutants: [
    {
      file: SESSION,
      find: `    maskBuffer(message, forms);`,
      put: '',
      bug: 'messages show the credential',
    },
    {
      file: SESSION,
      find: `    maskBuffer(message, forms);`,
      put: `    if (!isBinary) maskBuffer(message, forms);`,
      bug: 'binary messages show the credential',
    },
    {
      file: SESSION,
      find: `    maskBuffer(reason, this.#deps.forms);`,
      put: '',
      bug: 'the reason of a close shows the credential',
    },
    {
      file: SESSION,
      find: 'const repeatsKey = this.#accessToken !== null && !isBinary;',
      put: 'const repeatsKey = this.#accessToken !== null;',
      bug: 'binary messages get the real key',
    },
    {
      file: SESSION,
      find: `    outbox.send(message, isBinary);
    if (!outbox.isEmpty) this.#upstream.pause();`,
      put: '    outbox.send(message, isBinary);',
      bug: 'an agent that reads slowly fills the memory',
    },
    {
      file: SESSION,
      find: 'this.#upstream.bufferedAmount + this.#unsent * UNSENT_OVERHEAD_BYTES;',
      put: 'this.#upstream.bufferedAmount;',
      bug: 'small messages for a provider that reads slowly fill the memory',
    },
    {
      file: SESSION,
      find: '    this.#unsent--;\n',
      put: '',
      bug: 'messages that the provider has taken stay counted',
    },
    {
      file: OUTBOX,
      find: `this.#queuedBytes += message.length + QUEUED_OVERHEAD_BYTES;`,
      put: `this.#queuedBytes += message.length;`,
      bug: 'small messages for an agent that reads slowly fill the memory',
    },
    {
      file: SESSION,
      find: `    if (isTooMuch) this.close(TRY_AGAIN_LATER, 'the provider is too slow');
`,
      put: '',
      bug: 'a provider that reads slowly fills the memory',
    },
    {
      file: SESSION,
      find: `    outbox.send(message, isBinary);
    if (!outbox.isEmpty) this.#upstream.pause();
    if (outbox.hasDropped ||`,
      put: `    outbox.send(message, isBinary);
    if (!outbox.isEmpty) this.#upstream.pause();
    if (`,
      bug: 'a message that was dropped is lost without a word',
    },
    {
      file: SESSION,
      find: "if (code === 1006) this.exchange.errorClass = 'upstream_cut';\n    else",
      put: '',
      bug: 'a session that broke off is booked as complete',
    },
    {
      file: SESSION,
      find: `    this.#hasEnded = true;
`,
      put: '',
      bug: 'a session ends twice',
    },
    {
      file: SESSION,
      find: 'upstream.pause(); // until',
      put: '// until',
      bug: 'what the upstream says before the agent’s side is open is lost',
    },
    {
      file: SESSIONS,
      find: "    if (exchange.errorClass === '') exchange.errorClass = 'revoked';\n",
      put: '',
      bug: 'a revoked session is booked like any other',
      tests: ['dataplane/src/websocket', 'test/src/websocket/open-connection-revocation.test.ts'],
    },
    {
      file: SESSIONS,
      find: `session.close(POLICY_VIOLATION, why);`,
      put: 'void why;',
      bug: 'a revocation ends no WebSocket',
    },
    {
      file: SESSIONS,
      find: "      if (session.exchange.errorClass === '') session.exchange.errorClass = 'shutdown';\n",
      put: '',
      bug: 'a shutdown is not in the log',
    },
    {
      file: SESSION,
      find: 'this.#unfinishedBytes += ofMessage + READ_OVERHEAD_BYTES;',
      put: '{}',
      bug: 'messages of providers that never end fill the memory',
    },
    {
      file: SESSION,
      find: `if (this.#isReleased || !this.#hasEnded || !this.#isUpstreamDisconnected || !this.#isAgentDisconnected) return;`,
      put: `if (this.#isReleased || !this.#hasEnded) return;`,
      bug: 'a place is free again while the connections that fill the memory are still there',
    },
    {
      file: OUTBOX,
      find: `if (this.isEmpty && message.length <= FRAGMENT_BYTES) {`,
      put: `if (this.isEmpty) {`,
      bug: 'the server holds a whole message for an agent that has closed and trickles',
    },
    {
      file: POOL,
      find: `      if (most.bytes <= org.bytes + more) return false;
      findLargest(most.allocations).reclaim();
`,
      put: '      if (most !== null) return false;\n',
      bug: 'tenants that hold bytes for ever keep out those who come later',
    },
    {
      file: SESSIONS,
      find: '        onClosed();\n',
      put: '',
      bug: 'a WebSocket that has ended is a connection for ever, and in the end no more are taken',
    },
    {
      file: UPGRADE,
      find: `if (upstream.allowsWebSocket && upstream.injection.kind !== 'sigv4') return NEXT;`,
      put: "if (upstream.injection.kind !== 'sigv4') return NEXT;",
      bug: 'frames of a model provider pass unmetered',
    },
    {
      file: UPGRADE,
      find: `    if (exchange.access.revoked) {
      exchange.reject(REJECTIONS.accessRevoked); // Revoked while the counter store was called.
      return DONE;
    }
`,
      put: '',
      bug: 'what was revoked while the limits were asked still opens',
    },
    {
      file: UPGRADE,
      find: `upstream.isTenantAddress ? context.orgId : null`,
      put: 'null',
      bug: "a tenant's WebSocket reaches private addresses",
    },
    {
      file: UPGRADE,
      find: `const masked = maskHeaderValue(body, forms);`,
      put: 'const masked = body;',
      bug: 'the body of a refused handshake shows the credential',
    },
    {
      file: UPGRADE,
      find: `whole ? masked : cutPartialCredential(masked, forms)`,
      put: 'masked',
      bug: 'a body that breaks off inside the credential shows a piece of it',
    },
    {
      file: UPGRADE,
      find: `if (body.length > REJECTION_BODY_BYTES_MAX) break;`,
      put: '',
      bug: 'the body of a refused handshake is read without end',
    },
    {
      file: UPGRADE,
      find: `else if (deps.isDraining()) rejectShuttingDown(exchange, session);
          else`,
      put: 'else',
      bug: 'a session opens while the process is about to stop',
    },
    {
      file: UPGRADE,
      find: `if (exchange.isFinished) session.abort();
          else if`,
      put: 'if',
      bug: 'the agent left during the handshake, and the upstream stays connected',
      equivalent: 'whoever finishes a call ends its handshake in the same step, and an ended handshake never opens',
    },
    {
      file: UPGRADE,
      find: `if (!exchange.settled) deps.onUpstreamAccepted(exchange);`,
      put: '',
      bug: "a probe's consent counts only when the session ends",
    },
    {
      file: UPGRADE,
      find: `if (!HANDSHAKE_HEADERS.has(headers[i]!)) kept.push`,
      put: 'kept.push',
      bug: "the agent's handshake headers go up beside our own",
    },
    {
      file: UPGRADE,
      find: `return [...new Set(names.filter((name) => HTTP_TOKEN.test(name)))];`,
      put: 'return names;',
      bug: 'a subprotocol that is no token, or twice, fails the handshake',
    },
    {
      file: UPGRADE,
      find: `exchange.upstreamCall.operation = { abort: () => socket.terminate() };`,
      put: `exchange.upstreamCall.operation = { abort: () => undefined };`,
      bug: 'a handshake that nobody waits for goes on',
    },
    {
      file: ACCESS_TOKEN,
      find: `return ACCESS_TOKEN_EVENTS.has(event) && isObject(payload)`,
      put: 'return isObject(payload)',
      bug: 'a broadcast carries the real key to everybody on the channel',
    },
    {
      file: ACCESS_TOKEN,
      find: 'if (payload === null || payload.access_token !== gatewayToken.toString()) return message;',
      put: 'if (payload === null) return message;',
      bug: "a user's own access token is replaced by the key",
    },
    {
      file: ACCESS_TOKEN,
      find: '  if (message.indexOf(gatewayToken, at + 1) !== -1) return message;\n',
      put: '',
      bug: 'a frame in which the token stands twice gets the key',
    },
    {
      file: ACCESS_TOKEN,
      find: 'if (at === -1 || message.length > FRAME_BYTES_MAX) return message;',
      put: 'if (at === -1) return message;',
      bug: 'frames of any size are parsed',
    },
  ],
};

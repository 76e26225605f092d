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
      bug: 'a dropped message is lost without an error',
    },
    {
      file: SESSION,
      find: "if (code === 1006) this.exchange.errorClass = 'upstream_cut';\n    else",
      put: '',
      bug: 'an aborted session is recorded as complete',
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
      bug: "upstream messages before the client's side is open are lost",
    },
    {
      file: SESSIONS,
      find: "    if (exchange.errorClass === '') exchange.errorClass = 'revoked';\n",
      put: '',
      bug: 'a revoked session is recorded like any other',
      tests: ['dataplane/src/websocket', 'test/src/websocket/open-connection-revocation.test.ts'],
    },
    {
      file: SESSIONS,
      find: `session.close(POLICY_VIOLATION, why);`,
      put: 'void why;',
      bug: 'a revocation closes no WebSocket',
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
      bug: 'a slot becomes free while the connections that fill the memory still exist',
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
      bug: 'tenants that occupy the buffer for ever block later ones',
    },
    {
      file: SESSIONS,
      find: '        onClosed();\n',
      put: '',
      bug: 'a closed WebSocket counts as a connection for ever, and finally no more are accepted',
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
      bug: 'a session revoked during admission still opens',
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
      bug: 'the body of a rejected handshake shows the credential',
    },
    {
      file: UPGRADE,
      find: `whole ? masked : cutPartialCredential(masked, forms)`,
      put: 'masked',
      bug: 'a body aborted inside the credential shows a part of it',
    },
    {
      file: UPGRADE,
      find: `if (body.length > REJECTION_BODY_BYTES_MAX) break;`,
      put: '',
      bug: 'the body of a rejected handshake is read without end',
    },
    {
      file: UPGRADE,
      find: `else if (deps.isDraining()) rejectShuttingDown(exchange, session);
          else`,
      put: 'else',
      bug: 'a session opens during shutdown',
    },
    {
      file: UPGRADE,
      find: `if (exchange.isFinished) session.abort();
          else if`,
      put: 'if',
      bug: 'the client disconnects during the handshake, and the upstream stays connected',
      equivalent: 'finishing a call ends its handshake in the same step, and an ended handshake never opens',
    },
    {
      file: UPGRADE,
      find: `if (!exchange.settled) deps.onUpstreamAccepted(exchange);`,
      put: '',
      bug: 'the success of a probe counts only when the session ends',
    },
    {
      file: UPGRADE,
      find: `if (!HANDSHAKE_HEADERS.has(headers[i]!)) kept.push`,
      put: 'kept.push',
      bug: "the client's handshake headers are forwarded beside the gateway's",
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
      bug: 'the handshake of a disconnected client continues',
    },
    {
      file: ACCESS_TOKEN,
      find: `return ACCESS_TOKEN_EVENTS.has(event) && isObject(payload)`,
      put: 'return isObject(payload)',
      bug: 'a broadcast sends the real key to all clients of the channel',
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
      bug: 'a frame with the token twice gets the key',
    },
    {
      file: ACCESS_TOKEN,
      find: 'if (at === -1 || message.length > FRAME_BYTES_MAX) return message;',
      put: 'if (at === -1) return message;',
      bug: 'frames of any size are parsed',
    },
  ],
};

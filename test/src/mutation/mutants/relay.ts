import type { Mutant } from '../mutant.js';

const RELAY_FILE = 'dataplane/src/response/relay.ts';
const ENDING = 'dataplane/src/call/call-endings.test.ts';
const RESPONSES = 'dataplane/src/call/proxy-responses.test.ts';
const FAILURES = 'dataplane/src/call/proxy-failures.test.ts';
const LIFETIME = 'dataplane/src/call/proxy-lifetime.test.ts';

/** How a response is carried to its agent, from its head to its last byte. */
export const RELAY: readonly Mutant[] = [
  {
    file: RELAY_FILE,
    find: `    if (this.#exchange.isFinished) {
      abort(CLIENT_ABORTED);
      return;
    }
`,
    put: '',
    bug: 'a call is forwarded although its client disconnected while waiting for a connection',
    tests: [LIFETIME, FAILURES],
  },
  {
    file: RELAY_FILE,
    find: `    this.#deps.idleFlushTimer.delete(this);
    this.#abortUpstream?.(CLIENT_ABORTED);
  }

  onConnect`,
    put: `    this.#deps.idleFlushTimer.delete(this);
  }

  onConnect`,
    bug: 'an upstream call continues after its client disconnected',
    tests: [RESPONSES],
  },
  {
    file: RELAY_FILE,
    find: `    this.#deps.releaseConnection(this.#exchange);
`,
    put: '',
    bug: 'a connection is never reused',
    tests: [LIFETIME, FAILURES, RESPONSES],
  },
  {
    file: RELAY_FILE,
    find: `else if (plan.head.contentLength >= 0 && !plan.changesLength) this.#framing`,
    put: 'else if (plan.head.contentLength >= 0) this.#framing',
    bug: 'Content-Length is kept although an edit changes the length',
    tests: [RESPONSES],
  },
  {
    file: RELAY_FILE,
    find: 'if (status < 200) return; // informational',
    put: 'if (status < 100) return; // informational',
    bug: 'an informational head counts as the response',
    tests: [ENDING, RESPONSES],
  },
  {
    file: RELAY_FILE,
    find: "exchange.request.method === 'HEAD' || status === 204 || status === 304",
    put: "exchange.request.method === 'HEAD' || status === 204",
    bug: 'a 304 waits for a body',
    tests: [RESPONSES],
  },
  {
    file: RELAY_FILE,
    find: `    if (error !== null) {
      exchange.destroyConnection();
      return;
    }
`,
    put: '',
    bug: 'a response ends as complete although its record could not be written',
    tests: [FAILURES, LIFETIME, RESPONSES],
  },
  {
    file: RELAY_FILE,
    find: `return !this.#isRecorded && this.#pending.length === 1 &&`,
    put: `return this.#isRecorded && this.#pending.length === 1 &&`,
    bug: 'the last byte of a body of known length is sent before the record is on disk',
    tests: [RESPONSES, FAILURES, LIFETIME],
  },
  {
    file: RELAY_FILE,
    find: `if (!this.#isRecorded || (this.#isBlocked && this.#exchange.mustCloseConnection)) return;`,
    put: `if (!this.#exchange.upstreamCall.responseComplete || (this.#isBlocked && this.#exchange.mustCloseConnection)) return;`,
    bug: 'a stream that the gateway aborts never ends',
    tests: ['dataplane/src/reservation/reserved-stream.test.ts'],
  },
  {
    file: RELAY_FILE,
    find: `    this.#flushEditsAndMask();
    this.#deps.settle(exchange, this.#onRecorded);
`,
    put: `    this.#flushEditsAndMask();
    if (this.#framing === CHUNKED) this.#onRecorded(null);
    this.#deps.settle(exchange, this.#onRecorded);
`,
    bug: 'the last byte of a chunked body is sent before the record is on disk',
    tests: [RESPONSES],
  },
  {
    file: RELAY_FILE,
    find: `    return !this.#isBlocked;
  }

  onComplete`,
    put: '    return true;\n  }\n\n  onComplete',
    bug: 'an agent that reads slowly fills the memory',
    tests: [RESPONSES, LIFETIME],
  },
  {
    file: RELAY_FILE,
    find: `      this.#isUpstreamPaused = false;
      this.#resumeUpstream?.();
`,
    put: `      this.#isUpstreamPaused = false;
`,
    bug: 'a paused response never resumes',
    tests: [RESPONSES, LIFETIME],
  },
  {
    file: RELAY_FILE,
    find: `    this.#deps.onFailureAfterHead(exchange, error);
    exchange.destroyConnection();
`,
    put: `    this.#deps.onFailureAfterHead(exchange, error);
    exchange.finish();
`,
    bug: 'an aborted response leaves its client waiting',
    tests: [ENDING, FAILURES],
  },
  {
    file: RELAY_FILE,
    find: `    if (mask !== null) this.#enqueue(mask.flush());
`,
    put: '',
    bug: 'the end of a response that looks like the beginning of a credential is lost',
    tests: [RESPONSES, ENDING],
  },
];

/** One call through the gateway, written down whatever becomes of it. Never rejects. */
import { type Agent, type IncomingMessage, request } from 'node:http';
import type { CallKind, CallTrace, Rejection } from '../evidence/history.js';
import type { Victim } from '../faults/fault-plan.js';
import type { SecretScanner } from '../invariants/secret-scanner.js';

/** The client gives up. Far above the longest fault, also on a busy machine. */
const CLIENT_TIMEOUT_MS = 120_000;
/** What the gateway holds back to mask it leaves after a second of silence, and what follows then begins anew. */
const IDLE_FLUSH_MS = 900;

export interface HttpCall {
  readonly id: string;
  readonly kind: CallKind;
  readonly agent: string;
  readonly plane: Victim;
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | null;
  /** The body leaves in so many pieces with a moment between them. */
  readonly pieces?: number;
  /** What is wrong with a whole 2xx answer; null: nothing. */
  readonly checkResponse: (body: string) => string | null;
}

const PIECE_PAUSE_MS = 40;

export function sendHttpCall(call: HttpCall, connections: Agent, secrets: SecretScanner): Promise<CallTrace> {
  const sentAt = Date.now();
  return new Promise((resolve) => {
    let response: IncomingMessage | null = null;
    let body = '';
    let heardAt = 0;
    let fellSilent = false;
    let over = false;
    const end = (complete: boolean, error: string | null): void => {
      if (over) return;
      over = true;
      clearTimeout(timer);
      outgoing.destroy();
      const looked = fellSilent && call.kind === 'echo' ? '' : body;
      resolve(buildTrace(call, sentAt, response, body, looked, complete, error, secrets));
    };
    const timer = setTimeout(() => end(false, 'timeout'), CLIENT_TIMEOUT_MS);
    const { method, headers } = call;
    const length = call.body === null ? {} : { 'content-length': String(call.body.length) };
    const outgoing = request(call.url, { agent: connections, method, headers: { ...headers, ...length } });
    outgoing.on('error', (error: NodeJS.ErrnoException) => {
      // An answer that came before the body was sent is still to be read.
      if (response === null) end(false, error.code ?? error.message);
    });
    outgoing.on('response', (answer) => {
      response = answer;
      answer.setEncoding('latin1');
      heardAt = Date.now();
      answer.on('data', (chunk: string) => {
        const now = Date.now();
        fellSilent ||= now - heardAt > IDLE_FLUSH_MS;
        heardAt = now;
        body += chunk;
      });
      answer.on('error', (error: NodeJS.ErrnoException) => end(false, error.code ?? error.message));
      answer.on('close', () => end(answer.complete, answer.complete ? null : 'cut'));
    });
    sendBodyInPieces(outgoing, call);
  });
}

function sendBodyInPieces(outgoing: ReturnType<typeof request>, { body, pieces = 1 }: HttpCall): void {
  if (body === null || pieces === 1) {
    outgoing.end(body ?? undefined);
    return;
  }
  const size = Math.ceil(body.length / pieces);
  const send = (at: number): void => {
    if (outgoing.destroyed) return;
    if (at + size >= body.length) outgoing.end(body.subarray(at));
    else outgoing.write(body.subarray(at, at + size), () => setTimeout(send, PIECE_PAUSE_MS, at + size));
  };
  send(0);
}

function buildTrace(
  call: HttpCall,
  sentAt: number,
  response: IncomingMessage | null,
  body: string,
  /** What of it is searched for secrets. */
  looked: string,
  complete: boolean,
  error: string | null,
  secrets: SecretScanner,
): CallTrace {
  const { id, kind, agent, plane } = call;
  const status = response?.statusCode ?? null;
  if (response !== null) {
    const source = `the answer to a call (${kind})`;
    secrets.scan(source, `${response.rawHeaders.join('\n')}\n\n${looked}`);
    secrets.endSource(source);
  }
  const refusal = response === null || !complete ? null : parseRejection(response, body);
  const isGood = refusal === null && complete && status !== null && status < 300;
  return {
    id,
    kind,
    agent,
    plane,
    sentAt,
    endedAt: Date.now(),
    status,
    requestId: (response?.headers['x-gateway-request-id'] as string | undefined) ?? null,
    complete,
    rejection: refusal,
    error,
    closeCode: null,
    responseProblem: isGood ? call.checkResponse(body) : null,
  };
}

/** Of the gateway's own answers both texts are the same; those of the providers here look otherwise. */
export function parseRejection(response: IncomingMessage, body: string): Rejection | null {
  if ((response.statusCode ?? 0) < 400) return null;
  try {
    const {
      error,
      message,
      limitType = '',
    } = JSON.parse(body) as { error: unknown; message: string; limitType?: string };
    if (typeof error !== 'string' || error !== message) return null;
    return { message, limitType, hasRetryAfter: response.headers['retry-after'] !== undefined };
  } catch {
    return null;
  }
}

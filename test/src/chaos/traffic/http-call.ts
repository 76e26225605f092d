/** Sends one call through the gateway and records its trace. Never rejects. */
import { type Agent, type IncomingMessage, request } from 'node:http';
import type { CallKind, CallTrace, Rejection } from '../evidence/evidence-types.js';
import type { Victim } from '../faults/fault-plan.js';
import type { SecretScanner } from '../invariants/secret-scanner.js';

/** When the client gives up. Far above the longest fault, also on a busy machine. */
const CLIENT_TIMEOUT_MS = 120_000;
/**
 * The gateway holds back bytes for masking and flushes them after 1 s of silence; the masking restarts behind a flush.
 */
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
  /** Number of chunks in which the body is sent, with a pause between them. */
  readonly bodyChunks?: number;
  /** Returns what is wrong with a complete 2xx response; null: nothing. */
  readonly checkResponse: (body: string) => string | null;
}

const CHUNK_PAUSE_MS = 40;

export function sendHttpCall(call: HttpCall, connections: Agent, secrets: SecretScanner): Promise<CallTrace> {
  const sentAt = Date.now();
  return new Promise((resolve) => {
    let response: IncomingMessage | null = null;
    let body = '';
    let lastChunkAt = 0;
    let wasIdleFlushed = false;
    let over = false;
    const end = (complete: boolean, error: string | null): void => {
      if (over) return;
      over = true;
      clearTimeout(timer);
      outgoing.destroy();
      const scannedText = wasIdleFlushed && call.kind === 'echo' ? '' : body;
      resolve(buildTrace(call, sentAt, response, body, scannedText, complete, error, secrets));
    };
    const timer = setTimeout(() => end(false, 'timeout'), CLIENT_TIMEOUT_MS);
    const { method, headers } = call;
    const length = call.body === null ? {} : { 'content-length': String(call.body.length) };
    const outgoing = request(call.url, { agent: connections, method, headers: { ...headers, ...length } });
    outgoing.on('error', (error: NodeJS.ErrnoException) => {
      // A response that arrived before the body was sent can still be read.
      if (response === null) end(false, error.code ?? error.message);
    });
    outgoing.on('response', (answer) => {
      response = answer;
      answer.setEncoding('latin1');
      lastChunkAt = Date.now();
      answer.on('data', (chunk: string) => {
        const now = Date.now();
        wasIdleFlushed ||= now - lastChunkAt > IDLE_FLUSH_MS;
        lastChunkAt = now;
        body += chunk;
      });
      answer.on('error', (error: NodeJS.ErrnoException) => end(false, error.code ?? error.message));
      answer.on('close', () => end(answer.complete, answer.complete ? null : 'cut'));
    });
    sendBodyInChunks(outgoing, call);
  });
}

function sendBodyInChunks(outgoing: ReturnType<typeof request>, { body, bodyChunks = 1 }: HttpCall): void {
  if (body === null || bodyChunks === 1) {
    outgoing.end(body ?? undefined);
    return;
  }
  const size = Math.ceil(body.length / bodyChunks);
  const send = (at: number): void => {
    if (outgoing.destroyed) return;
    if (at + size >= body.length) outgoing.end(body.subarray(at));
    else outgoing.write(body.subarray(at, at + size), () => setTimeout(send, CHUNK_PAUSE_MS, at + size));
  };
  send(0);
}

function buildTrace(
  call: HttpCall,
  sentAt: number,
  response: IncomingMessage | null,
  body: string,
  /** The text that is scanned for secrets. */
  scannedText: string,
  complete: boolean,
  error: string | null,
  secrets: SecretScanner,
): CallTrace {
  const { id, kind, agent, plane } = call;
  const status = response?.statusCode ?? null;
  if (response !== null) {
    const source = `the response to a call (${kind})`;
    secrets.scan(source, `${response.rawHeaders.join('\n')}\n\n${scannedText}`);
    secrets.endSource(source);
  }
  const rejection = response === null || !complete ? null : parseRejection(response, body);
  const isGood = rejection === null && complete && status !== null && status < 300;
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
    rejection,
    error,
    closeCode: null,
    responseProblem: isGood ? call.checkResponse(body) : null,
  };
}

/** In the gateway's own responses `error` and `message` are the same text; the providers of a run respond otherwise. */
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

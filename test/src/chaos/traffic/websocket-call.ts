/** Opens a WebSocket, exchanges messages, closes it from the client's side and records its trace. Never rejects. */
import type { IncomingMessage } from 'node:http';
import { WebSocket } from 'ws';
import type { CallTrace } from '../evidence/evidence-types.js';
import type { Victim } from '../faults/fault-plan.js';
import type { SecretScanner } from '../invariants/secret-scanner.js';
import { parseRejection } from './http-call.js';

const CLIENT_TIMEOUT_MS = 120_000;
const MESSAGE_INTERVAL_MS = 100;
const NORMAL_CLOSURE = 1000;
const ABNORMAL_CLOSURE = 1006;

interface WebSocketCall {
  readonly id: string;
  readonly agent: string;
  readonly plane: Victim;
  readonly url: string;
  readonly token: string;
  /** The client closes after this many messages came back. */
  readonly messages: number;
}

export function sendWebSocketCall(call: WebSocketCall, secrets: SecretScanner): Promise<CallTrace> {
  const { id, agent, plane } = call;
  const sentAt = Date.now();
  return new Promise((resolve) => {
    const socket = new WebSocket(call.url, { headers: { authorization: `Bearer ${call.token}` } });
    let trace: CallTrace = {
      id,
      kind: 'websocket',
      agent,
      plane,
      sentAt,
      endedAt: sentAt,
      status: null,
      requestId: null,
      complete: false,
      rejection: null,
      error: null,
      closeCode: null,
      responseProblem: null,
    };
    const note = (fields: Partial<CallTrace>): void => {
      trace = { ...trace, ...fields };
    };
    let over = false;
    const end = (fields: Partial<CallTrace>): void => {
      if (over) return;
      over = true;
      clearTimeout(timer);
      socket.terminate();
      secrets.endSource(`a WebSocket`);
      resolve({ ...trace, ...fields, endedAt: Date.now() });
    };
    const timer = setTimeout(
      () => end({ error: 'timeout', closeCode: trace.status === null ? null : ABNORMAL_CLOSURE }),
      CLIENT_TIMEOUT_MS,
    );
    socket.on('upgrade', (response) => {
      note({ status: 101, requestId: (response.headers['x-gateway-request-id'] as string | undefined) ?? null });
    });
    socket.on('unexpected-response', (_request, response) => {
      void readRejection(response).then((body) => {
        secrets.scan('a refused WebSocket', `${response.rawHeaders.join('\n')}\n\n${body}`);
        end({
          status: response.statusCode ?? null,
          rejection: parseRejection(response, body),
          complete: response.complete,
        });
      });
    });
    socket.on('error', (error: NodeJS.ErrnoException) => note({ error: error.code ?? error.message }));
    socket.on('close', (code) => {
      if (trace.status === null) end({});
      else end({ closeCode: code, complete: code !== ABNORMAL_CLOSURE });
    });
    exchangeMessages(socket, call.messages, secrets, (wrong) => note({ responseProblem: wrong }));
  });
}

/** Each message must come back unchanged. */
function exchangeMessages(
  socket: WebSocket,
  messages: number,
  secrets: SecretScanner,
  onWrong: (what: string) => void,
): void {
  let answered = 0;
  const say = (): void => {
    if (socket.readyState === WebSocket.OPEN) socket.send(`message ${answered}`);
  };
  socket.on('open', say);
  socket.on('message', (data) => {
    const text = String(data);
    secrets.scan('a WebSocket', text);
    if (text !== `message ${answered}`) onWrong(`the echo differs from the message: ${text.slice(0, 80)}`);
    answered++;
    if (answered === messages) socket.close(NORMAL_CLOSURE);
    else setTimeout(say, MESSAGE_INTERVAL_MS);
  });
}

async function readRejection(response: IncomingMessage): Promise<string> {
  let body = '';
  try {
    for await (const chunk of response) body += String(chunk);
  } catch {
    // only the messages that arrived are checked
  }
  return body;
}

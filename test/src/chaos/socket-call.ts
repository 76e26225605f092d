/** A WebSocket that talks for a while and is closed by its client, written down whatever becomes of it. Never rejects. */
import type { IncomingMessage } from 'node:http';
import { WebSocket } from 'ws';
import type { CallTrace } from './history.js';
import { refusalOf } from './http-call.js';
import type { SecretWatch } from './invariants/secrets.js';
import type { Victim } from './plan.js';

const PATIENCE_MS = 120_000;
const TALK_MS = 100;
const NORMAL = 1000;
const BROKEN = 1006;

interface SocketCall {
  readonly id: string;
  readonly agent: string;
  readonly plane: Victim;
  readonly url: string;
  readonly token: string;
  /** The client closes after so many messages came back. */
  readonly messages: number;
}

export function openSocket(call: SocketCall, secrets: SecretWatch): Promise<CallTrace> {
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
      refusal: null,
      error: null,
      closeCode: null,
      wrong: null,
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
      secrets.ended(`a WebSocket`);
      resolve({ ...trace, ...fields, endedAt: Date.now() });
    };
    const timer = setTimeout(
      () => end({ error: 'timeout', closeCode: trace.status === null ? null : BROKEN }),
      PATIENCE_MS,
    );
    socket.on('upgrade', (response) => {
      note({ status: 101, requestId: (response.headers['x-gateway-request-id'] as string | undefined) ?? null });
    });
    socket.on('unexpected-response', (_request, response) => {
      void readRefusal(response).then((body) => {
        secrets.look('a refused WebSocket', `${response.rawHeaders.join('\n')}\n\n${body}`);
        end({ status: response.statusCode ?? null, refusal: refusalOf(response, body), complete: response.complete });
      });
    });
    socket.on('error', (error: NodeJS.ErrnoException) => note({ error: error.code ?? error.message }));
    socket.on('close', (code) => {
      if (trace.status === null) end({});
      else end({ closeCode: code, complete: code !== BROKEN });
    });
    talk(socket, call.messages, secrets, (wrong) => note({ wrong }));
  });
}

/** Each message must come back as it was sent. */
function talk(socket: WebSocket, messages: number, secrets: SecretWatch, onWrong: (what: string) => void): void {
  let answered = 0;
  const say = (): void => {
    if (socket.readyState === WebSocket.OPEN) socket.send(`message ${answered}`);
  };
  socket.on('open', say);
  socket.on('message', (data) => {
    const text = String(data);
    secrets.look('a WebSocket', text);
    if (text !== `message ${answered}`) onWrong(`another message came back: ${text.slice(0, 80)}`);
    answered++;
    if (answered === messages) socket.close(NORMAL);
    else setTimeout(say, TALK_MS);
  });
}

async function readRefusal(response: IncomingMessage): Promise<string> {
  let body = '';
  try {
    for await (const chunk of response) body += String(chunk);
  } catch {
    // what has arrived is what is looked at
  }
  return body;
}

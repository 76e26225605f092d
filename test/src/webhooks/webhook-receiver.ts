/** A real webhook receiver: verifies every signature and behaves or misbehaves as its path says. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

interface ReceivedDelivery {
  readonly path: string;
  readonly deliveryId: string;
  readonly event: string;
  readonly signature: string;
  readonly headers: IncomingMessage['headers'];
  /** The raw body as text. */
  readonly body: string;
}

export interface Receiver {
  readonly url: string;
  readonly received: ReceivedDelivery[];
  /** Sets the response of a path; default 200. */
  on(path: string, answer: (response: ServerResponse, received: ReceivedDelivery) => void): void;
  /** Number of open requests. */
  open(): number;
  close(): Promise<void>;
}

export async function startReceiver(): Promise<Receiver> {
  const received: ReceivedDelivery[] = [];
  const answers = new Map<string, (response: ServerResponse, received: ReceivedDelivery) => void>();
  let open = 0;
  const server = createServer((request, response) => {
    open++;
    response.on('close', () => open--);
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const path = request.url ?? '';
      const one: ReceivedDelivery = {
        path,
        deliveryId: String(request.headers['x-webhook-delivery']),
        event: String(request.headers['x-webhook-event']),
        signature: String(request.headers['x-webhook-signature']),
        headers: request.headers,
        body: Buffer.concat(chunks).toString('utf8'),
      };
      received.push(one);
      const answer = answers.get(path);
      if (answer === undefined) response.writeHead(200).end();
      else answer(response, one);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    on: (path, answer) => void answers.set(path, answer),
    open: () => open,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Verifies as docs/webhooks.md tells receivers to. */
export function isSignatureValid(secret: string, received: ReceivedDelivery): boolean {
  const expected = createHmac('sha256', secret).update(received.body).digest();
  const given = Buffer.from(received.signature, 'hex');
  return given.length === expected.length && timingSafeEqual(given, expected);
}

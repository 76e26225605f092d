/** Supabase Realtime: the Phoenix channel protocol over a WebSocket, for joining and broadcasting only. */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';

/** Serializer 1: `{topic, event, payload, ref, join_ref}`; serializer 2: `[join_ref, ref, topic, event, payload]`. */
interface PhoenixMessage {
  readonly joinRef: string | null;
  readonly ref: string | null;
  readonly topic: string;
  readonly event: string;
  readonly payload: Record<string, unknown>;
}

export class SupabaseRealtime {
  /** Raw targets of the accepted upgrades. */
  readonly joined: string[] = [];
  /** Text frames that clients sent. */
  readonly received: string[] = [];
  readonly #server = new WebSocketServer({ noServer: true });
  readonly #key: string;
  readonly #userJwt: string;

  /** Upgrades need the project's key. An access token must be that key or the session of the signed-in user. */
  constructor(key: string, userJwt: string) {
    this.#key = key;
    this.#userJwt = userJwt;
  }

  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const url = new URL(request.url ?? '/', 'http://stand-in');
    // Realtime reads the key from the query only.
    if (url.pathname !== '/realtime/v1/websocket' || url.searchParams.get('apikey') !== this.#key) {
      socket.end('HTTP/1.1 403 Forbidden\r\nconnection: close\r\ncontent-length: 0\r\n\r\n');
      return;
    }
    this.joined.push(request.url ?? '');
    this.#server.handleUpgrade(request, socket, head, (client) => {
      client.on('message', (data: Buffer, isBinary) => {
        if (isBinary) this.#onBinary(client, data);
        else this.#onMessage(client, data.toString());
      });
    });
  }

  /** A broadcast: `[3, join ref, ref, topic, event, metadata lengths, encoding, …]`, sent back as `[4, topic …]`. */
  #onBinary(client: WebSocket, frame: Buffer): void {
    const [kind, joinRef, ref, topic, event, metadata, encoding] = frame;
    if (kind !== 3) return;
    const start = 7 + joinRef! + ref!;
    const head = Buffer.from([4, topic!, event!, metadata!, encoding!]);
    client.send(Buffer.concat([head, frame.subarray(start)]));
  }

  #onMessage(client: WebSocket, raw: string): void {
    this.received.push(raw);
    const parsed = JSON.parse(raw) as unknown;
    const asArray = Array.isArray(parsed);
    const message = asArray ? parseArrayMessage(parsed) : parseObjectMessage(parsed as Record<string, unknown>);
    const send = (event: string, payload: object, ref: string | null): void => {
      const { topic, joinRef } = message;
      client.send(
        JSON.stringify(
          asArray ? [joinRef, ref, topic, event, payload] : { topic, event, payload, ref, join_ref: joinRef },
        ),
      );
    };
    if (message.event === 'phx_join' || message.event === 'access_token') {
      const { access_token: accessToken } = message.payload;
      const isKnown = accessToken === undefined || accessToken === this.#key || accessToken === this.#userJwt;
      if (!isKnown) send('phx_reply', { status: 'error', response: { reason: 'InvalidJWTToken' } }, message.ref);
      else send('phx_reply', { status: 'ok', response: { postgres_changes: [] } }, message.ref);
    }
    if (message.event === 'heartbeat') send('phx_reply', { status: 'ok', response: {} }, message.ref);
    else if (message.event === 'phx_leave') send('phx_reply', { status: 'ok', response: {} }, message.ref);
  }
}

function parseArrayMessage(parts: readonly unknown[]): PhoenixMessage {
  const [joinRef, ref, topic, event, payload] = parts as [string, string, string, string, Record<string, unknown>];
  return { joinRef, ref, topic, event, payload };
}

function parseObjectMessage(message: Record<string, unknown>): PhoenixMessage {
  return {
    joinRef: (message.join_ref as string | undefined) ?? null,
    ref: (message.ref as string | undefined) ?? null,
    topic: String(message.topic),
    event: String(message.event),
    payload: (message.payload as Record<string, unknown> | undefined) ?? {},
  };
}

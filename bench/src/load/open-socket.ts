import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

/** A connection to something that the bench has started; nobody needs to prove who they are. */
export function openSocket(origin: string): Socket {
  const { protocol, port, hostname: host } = new URL(origin);
  const socket =
    protocol === 'https:'
      ? connectTls({ host, port: Number(port), rejectUnauthorized: false })
      : connect({ host, port: Number(port) });
  return socket.setNoDelay(true);
}

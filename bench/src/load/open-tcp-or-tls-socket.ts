import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

/** A connection to a process of the bench; certificates are not verified. */
export function openSocket(origin: string): Socket {
  const { protocol, port, hostname: host } = new URL(origin);
  const socket =
    protocol === 'https:'
      ? connectTls({ host, port: Number(port), rejectUnauthorized: false })
      : connect({ host, port: Number(port) });
  return socket.setNoDelay(true);
}

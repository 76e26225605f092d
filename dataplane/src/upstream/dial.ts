/** Opens connections to the providers' own addresses. Addresses that a tenant gave go through the egress guard instead. */
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import { SOCKET_OPTIONS } from '@acg/base/egress/guarded-connector';

/** Where bytes of a connection go: one buffer for all connections, read before the next byte of any is. */
export interface OnRead {
  readonly buffer: Uint8Array;
  /** False pauses the connection. */
  callback(bytes: number, buffer: Uint8Array): boolean;
}

export interface DialTarget {
  /** `http:` or `https:`. */
  readonly protocol: string;
  /** Without brackets. */
  readonly hostname: string;
  readonly port: number;
}

/** Dialling, with TLS handshake, took longer than allowed. */
export class ConnectTimeout extends Error {
  readonly code = 'ETIMEDOUT';
}

/** Calls back exactly once, with an error or with a connected socket. `session`: of an earlier TLS connection. */
export function dial(
  target: DialTarget,
  timeoutMs: number,
  onread: OnRead,
  session: Buffer | null,
  done: (error: Error | null, socket: Socket | null) => void,
): void {
  const secure = target.protocol === 'https:';
  let timer: NodeJS.Timeout | null = null;
  let finished = false;
  const finish = (error: Error | null): void => {
    if (finished) return;
    finished = true;
    if (timer !== null) clearTimeout(timer);
    if (error !== null) socket.destroy();
    done(error, error === null ? socket : null);
  };
  const socket = secure ? openTls(target, onread, session) : openTcp(target, onread);
  timer = setTimeout(() => finish(new ConnectTimeout(`connecting to ${target.hostname} took too long`)), timeoutMs);
  socket.once(secure ? 'secureConnect' : 'connect', () => finish(null));
  socket.on('error', finish);
  socket.once('close', () => finish(new Error('the connection was closed at once')));
}

function openTcp(target: DialTarget, onread: OnRead): Socket {
  return connectTcp({ host: target.hostname, port: target.port, onread, ...SOCKET_OPTIONS });
}

function openTls(target: DialTarget, onread: OnRead, session: Buffer | null): Socket {
  return connectTls({
    host: target.hostname,
    port: target.port,
    ALPNProtocols: ['http/1.1'],
    onread,
    ...(isIP(target.hostname) === 0 ? { servername: target.hostname } : {}),
    ...(session === null ? {} : { session }),
    ...SOCKET_OPTIONS,
  } as ConnectionOptions);
}

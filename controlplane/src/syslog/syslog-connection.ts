/**
 * A connection to a syslog server: RFC 5424 messages with octet counting (RFC 6587 over TCP, RFC 5425 over TLS). Syslog
 * acknowledges nothing, so what a server has not read when it dies is lost.
 */
import { once } from 'node:events';
import { connect as connectTcp, type Socket } from 'node:net';
import { hostname } from 'node:os';
import { connect as connectTls } from 'node:tls';

export interface SyslogServer {
  readonly host: string;
  readonly port: number;
  readonly isTls: boolean;
}

export interface SyslogMessage {
  readonly at: Date;
  /** MSGID, e.g. `audit`. */
  readonly kind: string;
  /** One JSON object. */
  readonly text: string;
}

/** Facility 13 (log audit), severity 6 (informational). */
const PRIORITY = 13 * 8 + 6;
const TIMEOUT_MS = 10_000;
/** HOSTNAME has at most 255 printable characters without a space. */
const HOST =
  hostname()
    .replace(/[^\x21-\x7e]/g, '')
    .slice(0, 255) || '-';

function formatSyslogMessage({ at, kind, text }: SyslogMessage): Buffer {
  // \uFEFF: the message is UTF-8.
  const body = Buffer.from(`<${PRIORITY}>1 ${at.toISOString()} ${HOST} acg ${process.pid} ${kind} - \uFEFF${text}`);
  return Buffer.concat([Buffer.from(`${body.length} `), body]);
}

/** Sends the messages over one new connection; resolves when the server's system has acknowledged their bytes. */
export async function sendToSyslog(server: SyslogServer, messages: readonly SyslogMessage[]): Promise<void> {
  const { host, port, isTls } = server;
  const socket: Socket = isTls ? connectTls({ host, port, servername: host }) : connectTcp({ host, port });
  socket.setTimeout(TIMEOUT_MS, () => socket.destroy(new Error(`no progress for ${TIMEOUT_MS / 1_000} s`)));
  try {
    await once(socket, isTls ? 'secureConnect' : 'connect');
    const closed = once(socket, 'close');
    socket.resume();
    // The server closes its side in response to ours once it has read everything before it.
    socket.end(Buffer.concat(messages.map(formatSyslogMessage)));
    await closed;
  } catch (error) {
    throw new Error(`the syslog server ${host}:${port} cannot be reached: ${(error as Error).message}`);
  } finally {
    socket.destroy();
  }
}

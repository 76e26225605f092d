/**
 * Structured logs (pino, JSON lines on stdout). Two filters remove secrets: known field names are redacted by path, and
 * text that looks like a token, a bearer credential or a secret of this product is masked.
 */
import { type Logger, pino } from 'pino';
import { noop } from './noop.js';

export type { Logger } from 'pino';
export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Bytes that stdout buffers while its reader is slow. Lines beyond it are dropped and counted. */
const STDOUT_BUFFER_BYTES_MAX = 1_048_576;
const REDACTED_FIELDS = [
  'authorization',
  'password',
  'currentPassword',
  'newPassword',
  'token',
  'secretToken',
  'secret',
  'secretKey',
  'credentials',
  'apiKey',
  'cookie',
  'set-cookie',
  'deviceCode',
  'userCode',
  'invitationUrl',
];
const SECRET_PATTERN =
  /acg[mds]?_[0-9a-f]{8,}|whsec_[A-Za-z0-9_-]+|eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*|(Bearer|Basic)\s+[^\s"\\]+|(postgres(?:ql)?|rediss?|smtps?):\/\/[^\s"\\@/]*:[^\s"\\@/]*@/gi;

/**
 * Tokens without a prefix: 32 random bytes in base64url (links in mails, cookies, device codes), and the short device
 * code. 998 of 1000 such tokens contain both cases and a digit. Also matches after an encoded `%3D` in a URL.
 */
const OPAQUE_TOKEN_PATTERN =
  /(?:(?<![\w-])|(?<=%[0-9A-Fa-f]{2}))(?=[\w-]{0,42}[a-z])(?=[\w-]{0,42}[A-Z])(?=[\w-]{0,42}\d)[\w-]{43}(?![\w-])|\b[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}\b/g;
/** Places where such tokens occur by name; matched whatever characters the token has. */
const NAMED_TOKEN_PATTERN = /((?:[?&#]|%3F|%26|%23)token(?:=|%3D)|acg_session=)[\w-]{8,}/gi;

/** Masks secrets inside free text, such as a library's error message. */
export function maskSecrets(text: string): string {
  const named = text.replace(SECRET_PATTERN, (_match, scheme?: string, url?: string) => {
    if (scheme !== undefined) return `${scheme} [redacted]`;
    return url === undefined ? '[redacted]' : `${url}://[redacted]@`;
  });
  return named.replace(NAMED_TOKEN_PATTERN, '$1[redacted]').replace(OPAQUE_TOKEN_PATTERN, '[redacted]');
}

/**
 * Creates the root logger of a process. Every line carries `plane`. `write` receives each finished line. Without
 * `write`, lines go to stdout, and a slow or closed reader never blocks the process (docs/operations.md#logs).
 */
export function createLogger(plane: string, level: LogLevel, write?: (line: string) => void): Logger {
  return write === undefined ? createStdoutLogger(plane, level) : createPinoLogger(plane, level, write);
}

function createStdoutLogger(plane: string, level: LogLevel): Logger {
  ignoreClosedPipes();
  const { stdout } = process;
  let lostLines = 0;
  const logLostLines = (): void => {
    const lines = lostLines;
    lostLines = 0;
    log.warn({ lines }, 'log lines lost: their reader was too slow');
  };
  const log = createPinoLogger(plane, level, (line) => {
    if (stdout.writableLength <= STDOUT_BUFFER_BYTES_MAX) stdout.write(line);
    else if (lostLines++ === 0) stdout.once('drain', logLostLines);
  });
  return log;
}

/** Ignores `error` events of stdout and stderr: a pipe whose reader has closed would otherwise end the process. */
export function ignoreClosedPipes(): void {
  for (const stream of [process.stdout, process.stderr]) {
    if (!stream.listeners('error').includes(noop)) stream.on('error', noop);
  }
}

function createPinoLogger(plane: string, level: LogLevel, write: (line: string) => void): Logger {
  return pino(
    {
      level,
      base: { plane, pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: { paths: REDACTED_FIELDS.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]), censor: '[redacted]' },
      formatters: { level: (label) => ({ level: label }) },
    },
    { write: (line: string) => write(maskSecrets(line)) },
  );
}

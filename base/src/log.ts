/**
 * Structured logs (pino, JSON lines on stdout). Whatever is logged passes two nets: known field names are redacted by
 * path, and anything that looks like a token or secret that this product creates, or like a bearer credential, is masked
 * in the text.
 */
import { type Logger, pino } from 'pino';
import { ignore } from './ignore.js';

export type { Logger } from 'pino';
export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Of lines that their reader has not taken, in memory; what comes then is lost, and counted. */
const WAITING_BYTES_MAX = 1_048_576;
const FIELDS = [
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
const SECRET_TEXT =
  /acgm?_[0-9a-f]{8,}|whsec_[A-Za-z0-9_-]+|eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*|(Bearer|Basic)\s+[^\s"\\]+|(postgres(?:ql)?|rediss?|smtps?):\/\/[^\s"\\@/]*:[^\s"\\@/]*@/gi;

/**
 * Tokens without a prefix: 32 random bytes in base64url, which has letters of both cases and a digit in 998 of 1000 (links
 * in mails, cookies, device codes), and the short code of a device. What follows `%3D` in an encoded URL counts, too.
 */
const OPAQUE_TOKEN =
  /(?:(?<![\w-])|(?<=%[0-9A-Fa-f]{2}))(?=[\w-]{0,42}[a-z])(?=[\w-]{0,42}[A-Z])(?=[\w-]{0,42}\d)[\w-]{43}(?![\w-])|\b[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}\b/g;
/** Where such tokens stand: without regard to their letters. */
const NAMED_TOKEN = /((?:[?&#]|%3F|%26|%23)token(?:=|%3D)|acg_session=)[\w-]{8,}/gi;

/** Masks secrets inside free text, such as an error message of a library. */
export function maskSecrets(text: string): string {
  const named = text.replace(SECRET_TEXT, (_match, scheme?: string, url?: string) => {
    if (scheme !== undefined) return `${scheme} [redacted]`;
    return url === undefined ? '[redacted]' : `${url}://[redacted]@`;
  });
  return named.replace(NAMED_TOKEN, '$1[redacted]').replace(OPAQUE_TOKEN, '[redacted]');
}

/**
 * The root logger of a process. `plane` is on every line; `write` gets each finished line: without it standard output
 * does, which holds nothing up whatever becomes of its reader (docs/operations.md#logs).
 */
export function createLogger(plane: string, level: LogLevel, write?: (line: string) => void): Logger {
  return write === undefined ? printingLogger(plane, level) : newLogger(plane, level, write);
}

function printingLogger(plane: string, level: LogLevel): Logger {
  outliveReaders();
  const { stdout } = process;
  let lost = 0;
  const tellLost = (): void => {
    const lines = lost;
    lost = 0;
    log.warn({ lines }, 'log lines lost: their reader was too slow');
  };
  const log = newLogger(plane, level, (line) => {
    if (stdout.writableLength <= WAITING_BYTES_MAX) stdout.write(line);
    else if (lost++ === 0) stdout.once('drain', tellLost);
  });
  return log;
}

/** A pipe that nobody reads any more is an error event of its stream, which would end the process. */
export function outliveReaders(): void {
  for (const stream of [process.stdout, process.stderr]) {
    if (!stream.listeners('error').includes(ignore)) stream.on('error', ignore);
  }
}

function newLogger(plane: string, level: LogLevel, write: (line: string) => void): Logger {
  return pino(
    {
      level,
      base: { plane, pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: { paths: FIELDS.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]), censor: '[redacted]' },
      formatters: { level: (label) => ({ level: label }) },
    },
    { write: (line: string) => write(maskSecrets(line)) },
  );
}

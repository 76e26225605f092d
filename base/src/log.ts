/**
 * Structured logs (pino, JSON lines on stdout). Whatever is logged passes two nets: known field names are redacted by
 * path, and anything that looks like a gateway token, JWT, webhook secret or bearer credential is masked in the text.
 */
import { type Logger, pino } from 'pino';

export type { Logger } from 'pino';
export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

const FIELDS = ['authorization', 'password', 'token', 'secret', 'secretKey', 'credentials', 'apiKey', 'cookie'];
const SECRET_TEXT =
  /acg_[0-9a-f]{8,}|whsec_[A-Za-z0-9_-]+|eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*|(Bearer|Basic)\s+[^\s"\\]+|(postgres(?:ql)?|rediss?|smtps?):\/\/[^\s"\\@/]*:[^\s"\\@/]*@/gi;

/** Masks secrets inside free text, such as an error message of a library. */
export function maskSecrets(text: string): string {
  return text.replace(SECRET_TEXT, (_match, scheme?: string, url?: string) => {
    if (scheme !== undefined) return `${scheme} [redacted]`;
    return url === undefined ? '[redacted]' : `${url}://[redacted]@`;
  });
}

const print = (line: string): void => void process.stdout.write(line);

/** The root logger of a process. `plane` is on every line; `write` gets each finished line. */
export function createLogger(plane: string, level: LogLevel, write: (line: string) => void = print): Logger {
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

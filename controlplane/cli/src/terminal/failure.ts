/** How a command ends when it does not succeed: with a code that scripts can tell apart, and a next step for people. */
import { ApiError, Unreachable } from '@acg/client/api-error';

export const EXIT = {
  ok: 0,
  failed: 1,
  usage: 2,
  cancelled: 3,
  unauthenticated: 4,
  forbidden: 5,
  notFound: 6,
  conflict: 7,
  limited: 8,
  /** `acg run`: its own failure; every other code is the child's. */
  runFailed: 125,
  notExecutable: 126,
  commandNotFound: 127,
  interrupted: 130,
} as const;

interface FailureDetails {
  /** What to do next. */
  readonly hint?: string | undefined;
  /** Of the answer of /v1. */
  readonly status?: number | undefined;
  readonly requestId?: string | undefined;
}

export class Failure extends Error {
  override readonly name = 'Failure';
  readonly exitCode: number;
  readonly hint: string | undefined;
  readonly status: number | undefined;
  readonly requestId: string | undefined;

  constructor(exitCode: number, message: string, { hint, status, requestId }: FailureDetails = {}) {
    super(message);
    this.exitCode = exitCode;
    this.hint = hint;
    this.status = status;
    this.requestId = requestId;
  }
}

export const usage = (message: string, hint?: string): Failure => new Failure(EXIT.usage, message, { hint });

export const notLoggedIn = (message: string): Failure =>
  new Failure(EXIT.unauthenticated, message, { hint: 'acg login, or ACG_TOKEN' });

const CODES: Readonly<Record<number, number>> = {
  400: EXIT.usage,
  401: EXIT.unauthenticated,
  403: EXIT.forbidden,
  404: EXIT.notFound,
  409: EXIT.conflict,
  413: EXIT.usage,
  429: EXIT.limited,
};
const HINTS: Readonly<Record<number, string>> = {
  401: 'acg login, or ACG_TOKEN',
  403: 'acg whoami says which role you have',
};

/** Whatever was thrown, as a failure of this program. */
export function failureOf(error: unknown): Failure {
  if (error instanceof Failure) return error;
  if (error instanceof ApiError) {
    const { status, requestId } = error;
    const details = { status, requestId: requestId ?? undefined, hint: HINTS[status] };
    return new Failure(CODES[status] ?? EXIT.failed, error.message, details);
  }
  if (error instanceof Unreachable && error.cause instanceof Failure) return error.cause; // thrown inside its fetch
  if (error instanceof Unreachable) return new Failure(EXIT.failed, reasonOf(error), { hint: 'acg doctor' });
  // Where a field is missing that the API's document promises.
  if (error instanceof TypeError) {
    const hint = 'acg version: are this program and the gateway of one version?';
    return new Failure(EXIT.failed, `the answer is not as this version knows it (${error.message})`, { hint });
  }
  return new Failure(EXIT.failed, error instanceof Error ? error.message : String(error));
}

/** With the cause that fetch hides in `cause.cause`, e.g. ECONNREFUSED. */
function reasonOf(error: Error): string {
  const reasons = [error.message];
  for (let cause = error.cause; cause instanceof Error && reasons.length < 4; cause = cause.cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const reason = code ?? cause.message;
    if (reason !== '' && reason !== 'fetch failed') reasons.push(reason);
  }
  return [...new Set(reasons)].join(': ');
}

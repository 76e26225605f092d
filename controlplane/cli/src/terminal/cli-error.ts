/** Errors of commands, with an exit code for scripts and a next step for users. */
import { ApiError, UnreachableError } from '@acg/client/api-errors';

export const EXIT_CODES = {
  ok: 0,
  failed: 1,
  usage: 2,
  cancelled: 3,
  unauthenticated: 4,
  forbidden: 5,
  notFound: 6,
  conflict: 7,
  limited: 8,
  /** `acg apply --check`: the organization differs from the file. */
  different: 9,
  /** `acg archive verify`: the storage of the archive cannot be read. */
  unreadable: 10,
  /** `acg run` itself failed; every other code is the child's. */
  runFailed: 125,
  notExecutable: 126,
  commandNotFound: 127,
  interrupted: 130,
} as const;

interface CliErrorDetails {
  /** What to do next. */
  readonly hint?: string | undefined;
  /** Fields of the response of /v1. */
  readonly status?: number | undefined;
  readonly requestId?: string | undefined;
}

export class CliError extends Error {
  override readonly name = 'Failure';
  readonly exitCode: number;
  readonly hint: string | undefined;
  readonly status: number | undefined;
  readonly requestId: string | undefined;

  constructor(exitCode: number, message: string, { hint, status, requestId }: CliErrorDetails = {}) {
    super(message);
    this.exitCode = exitCode;
    this.hint = hint;
    this.status = status;
    this.requestId = requestId;
  }
}

export const usage = (message: string, hint?: string): CliError => new CliError(EXIT_CODES.usage, message, { hint });

export const notLoggedInError = (message: string): CliError =>
  new CliError(EXIT_CODES.unauthenticated, message, { hint: 'acg login, or ACG_TOKEN' });

const EXIT_CODE_BY_STATUS: Readonly<Record<number, number>> = {
  400: EXIT_CODES.usage,
  401: EXIT_CODES.unauthenticated,
  403: EXIT_CODES.forbidden,
  404: EXIT_CODES.notFound,
  409: EXIT_CODES.conflict,
  413: EXIT_CODES.usage,
  429: EXIT_CODES.limited,
};
/** Addresses that the gateway does not call by itself; see `base/src/egress`. */
const REFUSED_ADDRESS = /the port \d+ is not allowed|is not a public (?:address|name)/;

const POLICY_EXAMPLE =
  'a policy is like {"openai": {"calls": ["POST /v1/chat/completions"], "models": {"allow": ["gpt-5*"]}}}';

/** What resolves a conflict (409). */
const CONFLICT_HINTS: readonly (readonly [RegExp, string])[] = [
  [/already has an account: log in/, 'acg login --email <address>'],
  [/has an account with .* already/, 'acg accounts rotate <provider> --agent <agent>, or acg accounts rm'],
  [/an account uses this credential/, 'acg accounts ls'],
  [/the endpoint is paused/, 'acg webhooks set <webhook> --status active'],
  [/no rotation is under way/, '--test-first of rotate begins one'],
];

/** A hint must add something to the message: not every 403 is about a role. */
function hintFor({ status, message }: ApiError): string | undefined {
  if (status === 401 && message === 'wrong e-mail or password') return undefined;
  if (status === 401) return 'acg login, or ACG_TOKEN';
  if (status === 403 && /\brole\b/.test(message)) return 'acg whoami shows your role';
  if (status === 400 && REFUSED_ADDRESS.test(message))
    return `the operator of the gateway allows addresses with EGRESS_ALLOW_CIDRS${/^url\b/.test(message) ? '; acg listen receives events here' : ''}`;
  if (status === 400 && /^credentials\./.test(message))
    return 'the key comes from --key-stdin, --key-file or --key-env, other fields from --field';
  if (status === 400 && /^unknown field ".*" in policy\b/.test(message)) return POLICY_EXAMPLE;
  if (status === 404 && message === 'no such call') return 'acg logs';
  if (status === 409) return CONFLICT_HINTS.find(([pattern]) => pattern.test(message))?.[1];
  return undefined;
}

/** Converts any thrown value to an error of this program. */
export function toCliError(error: unknown): CliError {
  if (error instanceof CliError) return error;
  if (error instanceof ApiError) {
    const { status, requestId } = error;
    const details = { status, requestId: requestId ?? undefined, hint: hintFor(error) };
    return new CliError(EXIT_CODE_BY_STATUS[status] ?? EXIT_CODES.failed, error.message, details);
  }
  if (error instanceof UnreachableError && error.cause instanceof CliError) return error.cause; // thrown by its fetch function
  if (error instanceof UnreachableError)
    return new CliError(EXIT_CODES.failed, describeCauses(error), { hint: 'acg doctor' });
  const fileProblem = describeFileProblem(error);
  if (fileProblem !== null) return usage(fileProblem);
  // A field that the API document promises is missing.
  if (error instanceof TypeError) {
    const hint = 'acg version: are this program and the gateway of one version?';
    return new CliError(EXIT_CODES.failed, `this version cannot read the response (${error.message})`, { hint });
  }
  return new CliError(EXIT_CODES.failed, error instanceof Error ? error.message : String(error));
}

const FILE_PROBLEMS: Readonly<Record<string, string>> = {
  ENOENT: 'no such file or directory',
  EACCES: 'permission denied',
  EISDIR: 'is a directory',
  ENOTDIR: 'a part of the path is not a directory',
};

/** A file that the command line names and that cannot be opened is a mistake of the command line. */
function describeFileProblem(error: unknown): string | null {
  const { code = '', path, syscall } = (error ?? {}) as NodeJS.ErrnoException;
  const problem = FILE_PROBLEMS[code];
  if (problem === undefined || (syscall !== 'open' && syscall !== 'read')) return null;
  return path === undefined ? `cannot read the file: ${problem}` : `cannot open ${path}: ${problem}`;
}

/** Includes the cause that fetch hides in `cause.cause`, e.g. ECONNREFUSED. */
function describeCauses(error: Error): string {
  const reasons = [error.message];
  for (let cause = error.cause; cause instanceof Error && reasons.length < 4; cause = cause.cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const reason = code ?? cause.message;
    if (reason !== '' && reason !== 'fetch failed') reasons.push(reason);
  }
  return [...new Set(reasons)].join(': ');
}

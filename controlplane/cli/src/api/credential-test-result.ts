/** The result of one call with a credential at its provider. A rejected or untested credential is a failure. */
import { CliError, EXIT_CODES } from '../terminal/cli-error.js';
import { escapeControlCharacters } from '../terminal/escape-control-characters.js';

interface CredentialTestResult {
  readonly ok: boolean;
  /** What was called, as `GET https://…`; null when nothing was. */
  readonly call: string | null;
  /** Null: the provider did not respond. */
  readonly status: number | null;
  readonly latencyMs: number;
  readonly hint: string | null;
}

const SERVER_ERROR = 500;

const isTested = ({ status }: CredentialTestResult): boolean => status !== null && status < SERVER_ERROR;

/** One line: the result, what was called, and what to do. */
export function formatCredentialTest(subject: string, result: CredentialTestResult): string {
  const { ok, call, status, latencyMs, hint } = result;
  const mark = ok ? '✓' : isTested(result) ? '✗' : '?';
  const tried = call === null ? [] : [`${call} → ${status ?? 'no answer'} in ${latencyMs} ms`];
  return escapeControlCharacters(`${mark} ${subject}: ${[...tried, ...(hint === null ? [] : [hint])].join('. ')}`);
}

/** Throws a {@link CliError} for a credential that the provider did not accept. */
export function assertCredentialAccepted(subject: string, result: CredentialTestResult): void {
  if (result.ok) return;
  const verdict = isTested(result) ? 'was rejected by the provider' : 'was not tested';
  throw new CliError(EXIT_CODES.failed, `the key of ${subject} ${verdict}`);
}

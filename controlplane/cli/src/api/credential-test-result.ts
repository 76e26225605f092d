/** The result of one call with a key at its provider; a key that is not taken is a failure. */
import { CliError, EXIT_CODES } from '../terminal/cli-error.js';
import { escapeControlCharacters } from '../terminal/escape-control-characters.js';

interface CredentialTestResult {
  readonly ok: boolean;
  /** What was called, as `GET https://…`; null when nothing was. */
  readonly call: string | null;
  readonly status: number | null;
  readonly latencyMs: number;
  readonly hint: string | null;
}

export function formatCredentialTest(
  subject: string,
  { ok, call, status, latencyMs, hint }: CredentialTestResult,
): string {
  const more = hint === null ? '' : `, ${hint}`;
  const tried = call === null ? '' : `${call} → `;
  return escapeControlCharacters(
    `${ok ? '✓' : '✗'} ${subject}: ${tried}${status ?? 'no answer'} in ${latencyMs} ms${more}`,
  );
}

export function assertCredentialAccepted(subject: string, ok: boolean): void {
  if (!ok) throw new CliError(EXIT_CODES.failed, `the provider does not take the key of ${subject}`);
}

/** What came of one call with a key at its provider; a key that is not taken is a failure. */

import type { Invocation } from '../invocation/invocation.js';
import { CliError, EXIT_CODES } from '../terminal/cli-error.js';
import { toPrintable } from '../terminal/printable.js';

interface CredentialTestResult {
  readonly ok: boolean;
  readonly status: number | null;
  readonly latencyMs: number;
  readonly hint: string | null;
}

export function printCredentialTest(run: Invocation, subject: string, answer: CredentialTestResult): void {
  const { ok, status, latencyMs, hint } = answer;
  const line = `${ok ? '✓' : '✗'} ${subject}: ${status ?? 'no answer'} in ${latencyMs} ms${hint === null ? '' : `, ${hint}`}`;
  run.printResult(answer, () => run.printLine(toPrintable(line)));
  if (!ok) throw new CliError(EXIT_CODES.failed, `the provider does not take the key of ${subject}`);
}

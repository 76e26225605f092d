/** What came of one call with a key at its provider; a key that is not taken is a failure. */

import type { Invocation } from '../invocation/invocation.js';
import { EXIT, Failure } from '../terminal/failure.js';
import { printable } from '../terminal/printable.js';

interface Tested {
  readonly ok: boolean;
  readonly status: number | null;
  readonly latencyMs: number;
  readonly hint: string | null;
}

export function showTest(run: Invocation, what: string, answer: Tested): void {
  const { ok, status, latencyMs, hint } = answer;
  const line = `${ok ? '✓' : '✗'} ${what}: ${status ?? 'no answer'} in ${latencyMs} ms${hint === null ? '' : `, ${hint}`}`;
  run.show(answer, () => run.out(printable(line)));
  if (!ok) throw new Failure(EXIT.failed, `the provider does not take the key of ${what}`);
}

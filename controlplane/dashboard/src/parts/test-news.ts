/** Tells how the test of a stored credential went. */
import { toast, toastFailure } from './toast.js';

interface Outcome {
  readonly ok: boolean;
  /** Null: there was no answer. */
  readonly status: number | null;
  readonly latencyMs: number;
  readonly hint: string | null;
}

export const TEST_NEWS = {
  onSuccess({ ok, status, hint, latencyMs }: Outcome) {
    const answer = status === null ? '' : ` It answered ${status} after ${latencyMs} ms.`;
    if (ok) toast(`The provider takes the credential.${answer}`);
    else toastFailure(new Error(`${hint ?? 'The provider refuses the credential.'}${answer}`));
  },
  onError: toastFailure,
} as const;

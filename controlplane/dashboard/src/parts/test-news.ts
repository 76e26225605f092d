/** Tells how the test of a stored credential went. */
import { toast, toastFailure } from './toast.js';

interface Outcome {
  readonly ok: boolean;
  readonly latencyMs: number;
  readonly hint: string | null;
}

export const TEST_NEWS = {
  onSuccess({ ok, hint, latencyMs }: Outcome) {
    if (ok) toast(`The provider takes the credential (${latencyMs} ms).`);
    else toastFailure(new Error(hint ?? 'The provider refuses the credential.'));
  },
  onError: toastFailure,
} as const;

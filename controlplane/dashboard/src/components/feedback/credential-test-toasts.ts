/** Tells how the test of a stored credential went. */
import { showErrorToast, showToast } from './toast.js';

interface CredentialTestResult {
  readonly ok: boolean;
  /** Null: there was no answer. */
  readonly status: number | null;
  readonly latencyMs: number;
  readonly hint: string | null;
}

export const CREDENTIAL_TEST_TOASTS = {
  onSuccess({ ok, status, hint, latencyMs }: CredentialTestResult) {
    const answer = status === null ? '' : ` It answered ${status} after ${latencyMs} ms.`;
    if (ok) showToast(`The provider takes the credential.${answer}`);
    else showErrorToast(new Error(`${hint ?? 'The provider refuses the credential.'}${answer}`));
  },
  onError: showErrorToast,
} as const;

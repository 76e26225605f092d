/** Shows the result of a credential test as a toast. */
import { showErrorToast, showToast } from './toast.js';

interface CredentialTestResult {
  readonly ok: boolean;
  /** What was called; null: nothing. */
  readonly call: string | null;
  /** Null: the provider did not respond. */
  readonly status: number | null;
  readonly latencyMs: number;
  readonly hint: string | null;
}

export const CREDENTIAL_TEST_TOASTS = {
  onSuccess({ ok, call, status, hint, latencyMs }: CredentialTestResult) {
    if (call === null && hint !== null) {
      showToast(hint, 'yellow');
      return;
    }
    const response = status === null ? 'had no response' : `responded with ${status}`;
    const answer = call === null ? '' : ` ${call} ${response} after ${latencyMs} ms.`;
    if (ok) showToast(`The provider accepted the credential.${answer}`);
    else showErrorToast(new Error(`${hint ?? 'The provider rejected the credential.'}${answer}`));
  },
  onError: showErrorToast,
} as const;

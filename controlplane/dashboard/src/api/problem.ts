/** What to tell a person about a failure. */
import { ApiError, Unreachable } from '@acg/client/api-error';

interface Problem {
  readonly text: string;
  /** What the operator finds the request by; null: it never arrived. */
  readonly requestId: string | null;
}

/** `reads`: nothing was to be changed, and what shows it asks again when the gateway answers. */
export function problemOf(error: unknown, reads = false): Problem {
  if (error instanceof ApiError) return { text: sentence(error), requestId: error.requestId };
  if (error instanceof Unreachable) {
    const then = reads ? 'It is asked again by itself.' : 'Whether this was done is not known: look, and try again.';
    return { text: `The gateway does not answer. ${then}`, requestId: null };
  }
  return { text: error instanceof Error ? error.message : String(error), requestId: null };
}

const sentence = ({ error, status, retryAfter }: ApiError): string => {
  const text = `${error.charAt(0).toUpperCase()}${error.slice(1)}`;
  return status === 429 && retryAfter !== null ? `${text} (again in ${retryAfter} s)` : text;
};

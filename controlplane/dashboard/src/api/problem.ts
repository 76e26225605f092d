/** What to tell a person about a failure. */
import { ApiError, Unreachable } from '@acg/client/api-error';

const SERVER_ERROR = 500;

interface Problem {
  readonly text: string;
  /** What the operator finds the request by; null: it never arrived. */
  readonly requestId: string | null;
}

/** `reads`: nothing was to be changed, and what shows it asks again when the gateway answers. */
export function problemOf(error: unknown, reads = false): Problem {
  const unknown = 'Whether this was done is not known: look, and try again.';
  if (error instanceof ApiError) {
    const then = error.status < SERVER_ERROR ? '' : `. ${reads ? 'Try again.' : unknown}`;
    return { text: sentence(error) + then, requestId: error.requestId };
  }
  if (error instanceof Unreachable) {
    const then = reads ? 'It is asked again by itself.' : unknown;
    return { text: `The gateway does not answer. ${then}`, requestId: null };
  }
  return { text: error instanceof Error ? error.message : String(error), requestId: null };
}

const sentence = ({ error, status, retryAfter }: ApiError): string => {
  const text = `${error.charAt(0).toUpperCase()}${error.slice(1)}`;
  return status === 429 && retryAfter !== null ? `${text} (again in ${retryAfter} s)` : text;
};

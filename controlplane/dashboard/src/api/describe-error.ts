/** What to tell a person about a failure. */
import { ApiError, UnreachableError } from '@acg/client/api-errors';

const SERVER_ERROR = 500;

interface ErrorDescription {
  readonly text: string;
  /** What the operator finds the request by; null: it never arrived. */
  readonly requestId: string | null;
}

/** `reads`: nothing was to be changed, and what shows it asks again when the gateway answers. */
export function describeError(error: unknown, isRead = false): ErrorDescription {
  const unknown = 'Whether this was done is not known: look, and try again.';
  if (error instanceof ApiError) {
    const then = error.status < SERVER_ERROR ? '' : `. ${isRead ? 'Try again.' : unknown}`;
    return { text: formatApiError(error) + then, requestId: error.requestId };
  }
  if (error instanceof UnreachableError) {
    const then = isRead ? 'It is asked again by itself.' : unknown;
    return { text: `The gateway does not answer. ${then}`, requestId: null };
  }
  return { text: error instanceof Error ? error.message : String(error), requestId: null };
}

const formatApiError = ({ error, status, retryAfter }: ApiError): string => {
  const text = `${error.charAt(0).toUpperCase()}${error.slice(1)}`;
  return status === 429 && retryAfter !== null ? `${text} (again in ${retryAfter} s)` : text;
};

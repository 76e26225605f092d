/** Describes a failure to the user. */
import { ApiError, UnreachableError } from '@acg/client/api-errors';

const SERVER_ERROR = 500;
/** The API's answer to an address such as `/calls?agent=garbage`. */
const INVALID_ID = /^(?:id|\w+Id) must match format/;

interface ErrorDescription {
  readonly text: string;
  /** The id by which an operator finds the request in the logs; null: the request never arrived. */
  readonly requestId: string | null;
}

/** `isRead`: the request changed nothing, and its screen retries when the gateway responds again. */
export function describeError(error: unknown, isRead = false): ErrorDescription {
  const unknown = 'It is unknown whether the change was saved. Check, then try again.';
  if (isRead && error instanceof ApiError && error.status === 400 && INVALID_ID.test(error.error))
    return {
      text: 'An id in the address is incomplete or wrong. Clear the filters, or open the page from the menu.',
      requestId: error.requestId,
    };
  if (error instanceof ApiError) {
    const then = error.status < SERVER_ERROR ? '' : `. ${isRead ? 'Try again.' : unknown}`;
    return { text: formatApiError(error) + then, requestId: error.requestId };
  }
  if (error instanceof UnreachableError) {
    const then = isRead ? 'Retrying automatically.' : unknown;
    return { text: `The gateway does not respond. ${then}`, requestId: null };
  }
  return { text: error instanceof Error ? error.message : String(error), requestId: null };
}

const formatApiError = ({ error, status, retryAfter }: ApiError): string => {
  const text = `${error.charAt(0).toUpperCase()}${error.slice(1)}`;
  return status === 429 && retryAfter !== null ? `${text} (retry in ${retryAfter} s)` : text;
};

/** What a call of the management API throws where it did not succeed. */

interface ApiErrorFields {
  readonly status: number;
  /** The text of the answer's field `error`. */
  readonly error: string;
  readonly requestId: string | null;
  /** Seconds after which it is worth another try; null: the answer does not say. */
  readonly retryAfter: number | null;
}

/** An answer other than success. The message is the API's own text: it says what would be right. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly error: string;
  readonly requestId: string | null;
  readonly retryAfter: number | null;

  constructor({ status, error, requestId, retryAfter }: ApiErrorFields) {
    super(error);
    this.status = status;
    this.error = error;
    this.requestId = requestId;
    this.retryAfter = retryAfter;
  }
}

/** No answer came, or one that is not the gateway's: the address, the network or what stands between is wrong. */
export class UnreachableError extends Error {
  override readonly name = 'Unreachable';

  constructor(
    /** Scheme, host and path that was asked; no query. */
    readonly url: string,
    why: string,
    options?: ErrorOptions,
  ) {
    super(`${url}: ${why}`, options);
  }
}

/** Reads the body of an answer that is no success. */
export async function parseApiError(response: Response): Promise<ApiError> {
  return new ApiError({
    status: response.status,
    error: parseErrorText(await response.text()) ?? `HTTP ${response.status} ${response.statusText}`.trimEnd(),
    requestId: response.headers.get('x-request-id'),
    retryAfter: parseRetryAfterSeconds(response.headers.get('retry-after')),
  });
}

/** A proxy in between may answer with a page of its own: that has no text for people. */
function parseErrorText(body: string): string | null {
  try {
    const { error } = JSON.parse(body) as { error?: unknown };
    return typeof error === 'string' ? error : null;
  } catch {
    return null;
  }
}

const parseRetryAfterSeconds = (header: string | null): number | null =>
  header !== null && /^\d+$/.test(header) ? Number(header) : null;

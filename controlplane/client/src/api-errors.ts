/** What a call of the management API throws where it did not succeed. */

interface ApiErrorFields {
  readonly status: number;
  /** Text of the response's field `error`. */
  readonly error: string;
  readonly requestId: string | null;
  /** Seconds after which a retry makes sense; null when the response does not say. */
  readonly retryAfter: number | null;
  /** The response says that a code of the user's second factor is missing or wrong. */
  readonly secondFactor: boolean;
}

/** A response without success. The message is the API's text, which says what would be right. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly error: string;
  readonly requestId: string | null;
  readonly retryAfter: number | null;
  readonly secondFactor: boolean;

  constructor({ status, error, requestId, retryAfter, secondFactor }: ApiErrorFields) {
    super(error);
    this.status = status;
    this.error = error;
    this.requestId = requestId;
    this.retryAfter = retryAfter;
    this.secondFactor = secondFactor;
  }
}

/** No response arrived, or the response did not come from the gateway: the URL, the network or a proxy is wrong. */
export class UnreachableError extends Error {
  override readonly name = 'Unreachable';

  constructor(
    /** Scheme, host and path of the request, without the query. */
    readonly url: string,
    why: string,
    options?: ErrorOptions,
  ) {
    super(`${url}: ${why}`, options);
  }
}

/** Reads the body of a response without success. */
export async function parseApiError(response: Response): Promise<ApiError> {
  const { error, secondFactor } = parseErrorBody(await response.text());
  return new ApiError({
    status: response.status,
    error: typeof error === 'string' ? error : `HTTP ${response.status} ${response.statusText}`.trimEnd(),
    requestId: response.headers.get('x-request-id'),
    retryAfter: parseRetryAfterSeconds(response.headers.get('retry-after')),
    secondFactor: secondFactor === true,
  });
}

/** A proxy may answer with its own page, which has no text for users. */
function parseErrorBody(body: string): { readonly error?: unknown; readonly secondFactor?: unknown } {
  try {
    return (JSON.parse(body) as object | null) ?? {};
  } catch {
    return {};
  }
}

const parseRetryAfterSeconds = (header: string | null): number | null =>
  header !== null && /^\d+$/.test(header) ? Number(header) : null;

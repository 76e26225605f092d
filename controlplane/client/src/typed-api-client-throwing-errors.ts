/**
 * The management API, typed from its own document (schema.ts is generated, `npm run openapi`). Runs in Node and in
 * browsers. A call resolves to the body of a success and throws `ApiError` or `Unreachable` for everything else:
 *
 *   const { agents } = await client.get('/v1/agents', { params: { query: { projectId } } });
 */
import createFetchClient, { type FetchOptions, type FetchResponse } from 'openapi-fetch';
import type { FilterKeys, HttpMethod, PathsWithMethod, RequiredKeysOf } from 'openapi-typescript-helpers';
import { ApiError, parseApiError, UnreachableError } from './api-errors.js';
import type { paths } from './schema.js';

interface ClientOptions {
  /** Base URL of the control plane, including a path prefix; empty in the dashboard, which uses its own host. */
  readonly baseUrl: string;
  /** A session or a management token. Without one, a browser's session cookie counts. */
  readonly token?: string | undefined;
  /** Sent with each call, e.g. a user agent. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Instead of the platform's. */
  readonly fetch?: (request: Request) => Promise<Response>;
}

type RequestOptions<Path extends keyof paths, Method extends HttpMethod> = Omit<
  FetchOptions<FilterKeys<paths[Path], Method>>,
  'parseAs' | 'baseUrl' | 'fetch' | 'middleware'
>;
type Arguments<T> = RequiredKeysOf<T> extends never ? [options?: T] : [options: T];
/** The JSON body of a success. */
export type ResponseBody<Path extends keyof paths, Method extends HttpMethod> = NonNullable<
  FetchResponse<FilterKeys<paths[Path], Method> & object, object, 'application/json'>['data']
>;
type ApiMethod<Method extends HttpMethod> = <Path extends PathsWithMethod<paths, Method>>(
  path: Path,
  ...options: Arguments<RequestOptions<Path, Method>>
) => Promise<ResponseBody<Path, Method>>;

export interface Client {
  readonly get: ApiMethod<'get'>;
  readonly post: ApiMethod<'post'>;
  readonly put: ApiMethod<'put'>;
  readonly patch: ApiMethod<'patch'>;
  readonly delete: ApiMethod<'delete'>;
  /**
   * Calls any path with the same base URL, token and errors: for exports, whose responses are streams, and for paths
   * that are unknown at compile time.
   */
  send(method: string, path: string, init?: RequestInit): Promise<Response>;
}

/** The characters of every token. An error of `fetch` quotes a header that it rejects, so tokens are checked before. */
export const TOKEN_TEXT = /^[\x21-\x7e]+$/;
const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json\b/;

/** Throws TypeError if the token cannot be one; the error does not contain it. */
export function createClient(options: ClientOptions): Client {
  if (options.token !== undefined && !TOKEN_TEXT.test(options.token))
    throw new TypeError('the token has a space, a line break or another character that no token has');
  const platformFetch = options.fetch ?? ((request: Request) => globalThis.fetch(request));
  const baseUrl = options.baseUrl.replace(/\/+$/, '');
  const headers: Record<string, string> = { accept: 'application/json', ...options.headers };
  if (options.token !== undefined) headers.authorization = `Bearer ${options.token}`;

  const send = async (request: Request): Promise<Response> => {
    const url = request.url.split('?')[0]!;
    const response = await platformFetch(request).catch((cause: Error) => {
      if (cause.name === 'AbortError') throw cause; // the caller's own doing
      throw new UnreachableError(url, 'no answer', { cause });
    });
    if (!response.ok) throw await parseApiError(response);
    return response;
  };
  const api = createFetchClient<paths>({
    baseUrl,
    headers,
    async fetch(request) {
      const response = await send(request);
      // A page, for example of a proxy that asks for a login, would otherwise appear as a JSON syntax error.
      const type = response.headers.get('content-type') ?? 'no content type';
      if (!JSON_TYPE.test(type))
        throw new UnreachableError(request.url.split('?')[0]!, `not the management API (${type})`);
      return response;
    },
  });
  const createMethod =
    <Method extends HttpMethod>(method: Method): ApiMethod<Method> =>
    async (path, ...[init]) => {
      const { data } = await api.request(method, path as never, init as never).catch((error: Error) => {
        if (error instanceof ApiError || error instanceof UnreachableError || error.name === 'AbortError') throw error;
        const why = error instanceof SyntaxError ? 'the answer is no JSON' : 'the answer broke off';
        throw new UnreachableError(baseUrl + path, why, { cause: error });
      });
      // Every response of the API is an object, or a list in an export. Anything else did not come from the API.
      if (typeof data !== 'object' || data === null)
        throw new UnreachableError(baseUrl + path, 'not the management API');
      return data as never;
    };
  return {
    get: createMethod('get'),
    post: createMethod('post'),
    put: createMethod('put'),
    patch: createMethod('patch'),
    delete: createMethod('delete'),
    send: (method, path, init = {}) =>
      send(
        new Request(`${baseUrl}${path}`, {
          ...init,
          method,
          headers: { ...headers, ...headersToRecord(init.headers) },
        }),
      ),
  };
}

const headersToRecord = (headers: RequestInit['headers']): Record<string, string> =>
  Object.fromEntries(new Headers(headers));

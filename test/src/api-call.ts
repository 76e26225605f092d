/** One call of the management API. What it is given and answered that is secret is known to `secrets` from then on. */
import type { SecretsInPlay } from './secrets-in-play.js';

export interface ApiResponse {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: answers are asserted field by field
  readonly body: any;
}

export interface CallOptions {
  /** Null: no Authorization. */
  readonly token?: string | null;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export async function callApi(
  url: string,
  method: string,
  path: string,
  { token = null, body, headers: extra = {} }: CallOptions,
  secrets: SecretsInPlay,
): Promise<ApiResponse> {
  const headers: Record<string, string> = { ...extra };
  if (token !== null) headers.authorization = `Bearer ${token}`;
  if (body !== undefined) headers['content-type'] = 'application/json';
  const response = await fetch(url + path, {
    method,
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const json = (response.headers.get('content-type') ?? '').includes('json') && text !== '';
  const answer = { status: response.status, headers: response.headers, body: json ? JSON.parse(text) : text };
  secrets.collect(`${method} ${path}`, body);
  if (path !== '/v1/openapi.json') secrets.collect(`${method} ${path}`, answer.body); // names of fields
  return answer;
}

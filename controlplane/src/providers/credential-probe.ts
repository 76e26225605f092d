/** Checks whether a provider accepts a credential, with one call. */
import type { IInjection } from '@acg/proto/messages';
import aws4 from 'aws4';
import { type Dispatcher, request } from 'undici';
import type { Credentials } from './catalogue/credential-template.js';
import type { Provider } from './catalogue/provider.js';
import { splitBaseUrl } from './catalogue/split-base-url.js';

export interface ProbeResult {
  /** What was called, as `GET https://host/path`, without the credential; null: nothing. */
  readonly call: string | null;
  /** Null when there was no response. */
  readonly status: number | null;
  /** The provider rejects the credential as invalid. */
  readonly refused: boolean;
  readonly latencyMs: number;
}

const BODY_BYTES_MAX = 1_024;
const TIMEOUT_MS = 10_000;
const EMPTY_SHA256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

/** Why the provider has no call that tests a credential; null: it has one. */
export function reasonWithoutProbe(provider: Provider): string | null {
  const { probe } = provider.rules;
  return 'none' in probe ? probe.none : null;
}

/**
 * Never rejects. `createDispatcher` gets whether a tenant entered the URL, so that the connection goes through the
 * egress guard.
 */
export async function probeCredential(
  provider: Provider,
  credentials: Credentials,
  createDispatcher: (isTenantAddress: boolean) => Dispatcher,
): Promise<ProbeResult> {
  const { probe } = provider.rules;
  const address = 'none' in probe ? null : provider.address(credentials, probe.origin);
  if ('none' in probe || address === null) return { call: null, status: null, refused: false, latencyMs: 0 };
  const { origin, basePath } = splitBaseUrl(address.baseUrl);
  const { injection, path: pathCredential } = provider.injection(credentials, probe.origin);
  const headers: Record<string, string> = { 'user-agent': 'agent-credential-gateway', ...probe.headers };
  const path = applyCredential(headers, injection, origin, `${basePath}${pathCredential}${probe.path}` || '/');
  const call = `GET ${origin}${basePath}${probe.path}`;
  const began = performance.now();
  const latencyMs = (): number => Math.round(performance.now() - began);
  try {
    const dispatcher = createDispatcher(address.tenantGiven);
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const answer = await request(`${origin}${path}`, { dispatcher, method: 'GET', headers, signal });
    const refused = provider.isRefused(answer.statusCode, await readBeginning(answer.body));
    return { call, status: answer.statusCode, refused, latencyMs: latencyMs() };
  } catch {
    return { call, status: null, refused: false, latencyMs: latencyMs() };
  }
}

/** Sets the credential; returns the path and query to call. */
export function applyCredential(
  headers: Record<string, string>,
  injection: IInjection,
  origin: string,
  path: string,
): string {
  const { header, basic, query, sigv4, extraHeaders, extraQuery, appendHeaders } = injection;
  for (const { name, value } of extraHeaders ?? []) headers[name!] = value!;
  for (const { name, value } of appendHeaders ?? [])
    headers[name!] = headers[name!] === undefined ? value! : `${headers[name!]},${value!}`;
  const params = (extraQuery ?? []).map(({ name, value }) => encodeQueryPair(name!, value!));
  if (query) params.push(encodeQueryPair(query.name!, query.secret!));
  if (header) headers[header.name!] = `${header.prefix ?? ''}${header.secret!}`;
  if (header?.alsoBearerUnlessUserJwt) headers.authorization = `Bearer ${header.secret!}`;
  if (basic) headers.authorization = `Basic ${Buffer.from(`${basic.username}:${basic.password}`).toString('base64')}`;
  const target = params.length === 0 ? path : `${path}${path.includes('?') ? '&' : '?'}${params.join('&')}`;
  if (!sigv4) return target;
  const { accessKeyId, secretAccessKey, sessionToken, region, service } = sigv4;
  const signed = aws4.sign(
    {
      method: 'GET',
      host: origin.slice(origin.indexOf('//') + 2),
      path: target,
      service: service!,
      region: region!,
      headers: { 'x-amz-content-sha256': EMPTY_SHA256 },
    },
    { accessKeyId: accessKeyId!, secretAccessKey: secretAccessKey!, ...(sessionToken ? { sessionToken } : {}) },
  );
  for (const [name, value] of Object.entries(signed.headers ?? {})) {
    if (name.toLowerCase() !== 'host') headers[name] = String(value);
  }
  return target;
}

const encodeQueryPair = (name: string, value: string): string =>
  `${encodeURIComponent(name)}=${encodeURIComponent(value)}`;

async function readBeginning(body: AsyncIterable<Buffer>): Promise<string> {
  let text = '';
  for await (const chunk of body) {
    text += chunk.toString('latin1');
    if (text.length > BODY_BYTES_MAX) break;
  }
  return text;
}

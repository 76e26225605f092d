/**
 * Adds the provider credential of an account to an upstream request (docs/contract.md#providers). The caller has
 * already removed the client's own credential headers.
 */
import type { HeaderInjection, Injection } from '../../context/agent-context.js';
import { decodeParamValue, editQueryParams } from './edit-query-params-byte-preserving.js';
import { AUTH_QUERY_PARAM, containsGatewayToken, type TokenPosition } from './find-gateway-token.js';

/**
 * Appends the credential to `headers` (flat array) and returns the query to send (null = none). Removes every
 * credential parameter of the client from the query. SigV4 signing happens in sigv4.ts, because it needs method, path
 * and body.
 */
export function injectCredential(
  headers: string[],
  query: string | null,
  injection: Injection,
  position: TokenPosition,
): string | null {
  injectAccountHeaders(headers, injection);
  const edited = injectCredentialByKind(headers, query, injection, position);
  return injection.extraQuery.length === 0 ? edited : overrideWithAccountQueryParams(edited, injection.extraQuery);
}

/** Sets the headers of the account, which are no credential. */
export function injectAccountHeaders(headers: string[], { extraHeaders, appendHeaders }: Injection): void {
  for (let i = 0; i < extraHeaders.length; i++) headers.push(extraHeaders[i]![0], extraHeaders[i]![1]);
  for (let i = 0; i < appendHeaders.length; i++) appendToList(headers, appendHeaders[i]![0], appendHeaders[i]![1]);
}

/**
 * Adds `member` to the list in the header `name`, unless the list has it. Combines repeated headers into the first one,
 * in their order (RFC 9110 §5.3), because some servers read only one of them.
 */
function appendToList(headers: string[], name: string, member: string): void {
  let at = -1;
  for (let i = 0; i < headers.length; i += 2) {
    if (headers[i] !== name) continue;
    if (at === -1) {
      at = i + 1;
      continue;
    }
    headers[at] = joinLists(headers[at]!, headers[i + 1]!);
    headers.splice(i, 2);
    i -= 2;
  }
  if (at === -1) headers.push(name, member);
  else if (!headers[at]!.split(',').some((one) => one.trim() === member)) headers[at] = joinLists(headers[at]!, member);
}

const joinLists = (a: string, b: string): string => (a === '' || b === '' ? a + b : `${a},${b}`);

function injectCredentialByKind(
  headers: string[],
  query: string | null,
  injection: Injection,
  position: TokenPosition,
): string | null {
  switch (injection.kind) {
    case 'header':
      return injectHeaderCredential(headers, query, injection, position);
    case 'basic':
      headers.push('authorization', injection.value);
      return removeAuthParams(query, position, AUTH_QUERY_PARAM);
    case 'query': {
      const kept = removeAuthParams(query, position, injection.name);
      return kept === null || kept === '' ? injection.pair : `${kept}&${injection.pair}`;
    }
    case 'sigv4':
    case 'none':
      return removeAuthParams(query, position, AUTH_QUERY_PARAM);
  }
}

function injectHeaderCredential(
  headers: string[],
  query: string | null,
  injection: HeaderInjection,
  position: TokenPosition,
): string | null {
  const alternative = injection.alternatives.get(position.headerName);
  if (alternative === undefined) headers.push(injection.name, injection.value);
  else headers.push(position.headerName, alternative);
  if (injection.bearerUnlessUserJwt !== null) {
    headers.push('authorization', position.userJwt ?? injection.bearerUnlessUserJwt);
  }
  // Supabase Realtime reads its key only from `?apikey=` on a WebSocket upgrade, so the key replaces the token there.
  if (position.form === 'query' && injection.name === AUTH_QUERY_PARAM && query !== null) {
    const pair = `${AUTH_QUERY_PARAM}=${encodeURIComponent(injection.value)}`;
    let placed = false;
    return editQueryParams(query, (name) => {
      if (name !== AUTH_QUERY_PARAM) return true;
      if (placed) return false;
      placed = true;
      return pair;
    });
  }
  return removeAuthParams(query, position, AUTH_QUERY_PARAM);
}

/**
 * Appends the account's own parameters and drops the client's parameters of the same names. An empty pair only drops.
 */
function overrideWithAccountQueryParams(query: string | null, extra: Injection['extraQuery']): string | null {
  const own = extra.flatMap(([, pair]) => (pair === '' ? [] : pair)).join('&');
  const kept = query === null ? null : editQueryParams(query, (name) => !extra.some(([taken]) => taken === name));
  if (own === '') return kept;
  return kept === null || kept === '' ? own : `${kept}&${own}`;
}

/**
 * Returns the query without `apikey`, the parameter `alsoRemoved`, presigned signature parameters and any parameter that
 * holds a gateway token.
 */
export function removeAuthParams(query: string | null, position: TokenPosition, alsoRemoved: string): string | null {
  if (query === null || query === '') return query;
  if (position.headerName !== '' && !mayContainAuthParam(query, alsoRemoved)) return query;
  return editQueryParams(
    query,
    (name, pair) =>
      name !== AUTH_QUERY_PARAM &&
      name !== alsoRemoved &&
      !isPresignedSignatureParam(name) &&
      !containsGatewayToken(name) &&
      !containsGatewayToken(decodeParamValue(pair)),
  );
}

/** Cheap test that avoids decoding each parameter. An escape may hide a name, so `%` counts as a hit. */
function mayContainAuthParam(query: string, alsoRemoved: string): boolean {
  return (
    query.includes('%') ||
    query.includes(AUTH_QUERY_PARAM) ||
    query.includes(alsoRemoved) ||
    query.includes('-') ||
    containsGatewayToken(query)
  );
}

/** Whether this query parameter belongs to the client's own presigned URL signature. */
export function isPresignedSignatureParam(name: string): boolean {
  if (name.length < 10 || name[1] !== '-') return false;
  switch (name.toLowerCase()) {
    case 'x-amz-algorithm':
    case 'x-amz-credential':
    case 'x-amz-date':
    case 'x-amz-expires':
    case 'x-amz-signedheaders':
    case 'x-amz-signature':
    case 'x-amz-security-token':
    case 'x-amz-content-sha256':
      return true;
    default:
      return false;
  }
}

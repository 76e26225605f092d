/**
 * Finds the gateway token in every place where an SDK puts its key (docs/contract.md#gateway-tokens). Headers are one
 * flat array `[name, value, name, value …]` with lower-case names, in the order of their arrival. The usual places are
 * read first; only a request without a token there is searched completely.
 */
import { decodeParamValue, editQueryParams, findRawParam } from './edit-query-params-byte-preserving.js';

type TokenForm = 'bearer' | 'basic' | 'sigv4' | 'presigned' | 'header' | 'query' | 'any_query' | 'path';

export interface TokenPosition {
  readonly gatewayToken: string;
  readonly form: TokenForm;
  /**
   * Lower-case name of the header that held the token; `""` for the query and path forms. Injection uses the
   * provider's alternative for this header, if there is one.
   */
  readonly headerName: string;
  /** `Bearer eyJ…` of a signed-in user, where the gateway token is in another place (Supabase); null otherwise. */
  readonly userJwt: string | null;
}

/** The query parameter that can carry a key beside a user's own JWT. */
export const AUTH_QUERY_PARAM = 'apikey';

/** The request has two different gateway tokens. The gateway cannot tell which one the client means. */
export const CONFLICTING_TOKENS = 'conflict';

/**
 * Header names that usually carry a key. Each is dropped before forwarding, also when it does not hold the gateway
 * token.
 */
const AUTH_HEADERS: ReadonlySet<string> = new Set([
  'authorization',
  'x-api-key',
  'api-key',
  'apikey',
  'x-goog-api-key',
]);

const GATEWAY_TOKEN = /^acg_[0-9a-f]{64}$/;
const TOKEN_START = 'acg_';
const TOKEN_LENGTH = 68;
/** Bytes of base64. `user:password` of a gateway token is far shorter; a longer value is not decoded. */
const BASIC_LENGTH_MAX = 1024;
const JWT = /^eyJ[A-Za-z0-9_-]{0,4096}\.[A-Za-z0-9_-]{1,8192}\.[A-Za-z0-9_-]{0,2048}$/;
/** `Token token="acg_…"`, `token=acg_…`, `Bot acg_…`: what may stand before and after a token. */
const SCHEME_VALUE = /^(?:token=)?"?(acg_[0-9a-f]{64})"?$/i;
/** A token behind the first segments of a path, as a vendor's SDK writes its key there (`/bot<key>/`). */
const PATH_TOKEN = /^(\/[A-Za-z0-9._~:/-]{0,80}?)(acg_[0-9a-f]{64})(?=\/|$)/;

/**
 * Returns the token and its position, null when there is no token, or {@link CONFLICTING_TOKENS}. `query` is the raw
 * query without `?`, `path` the provider's own path.
 */
export function findGatewayToken(
  headers: readonly string[],
  query: string | null,
  path: string,
): TokenPosition | typeof CONFLICTING_TOKENS | null {
  let gatewayToken = '';
  let form: TokenForm = 'header';
  let headerName = '';
  let userJwt: string | null = null;
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i]!;
    if (!AUTH_HEADERS.has(name)) continue;
    const value = headers[i + 1]!;
    const foundForm = name === 'authorization' ? parseAuthorizationForm(value) : 'header';
    const found = extractHeaderToken(foundForm, value);
    if (found === '') {
      if (foundForm === 'bearer' && JWT.test(value.slice(7).trim())) userJwt = value;
      continue;
    }
    if (gatewayToken !== '' && gatewayToken !== found) return CONFLICTING_TOKENS;
    if (gatewayToken !== '') continue;
    gatewayToken = found;
    form = foundForm;
    headerName = name;
  }
  if (query !== null && query.length > TOKEN_LENGTH) {
    const found = extractQueryToken(query);
    if (found !== null) {
      if (gatewayToken !== '' && gatewayToken !== found.gatewayToken) return CONFLICTING_TOKENS;
      if (gatewayToken === '') ({ gatewayToken, form } = found);
    }
  }
  if (gatewayToken !== '') return { gatewayToken, form, headerName, userJwt };
  return findInUnusualPlaces(headers, query, path, userJwt);
}

/** The form of an `authorization` value. Of an unknown scheme, and of a bare value, the form is that of a header. */
function parseAuthorizationForm(value: string): 'bearer' | 'basic' | 'sigv4' | 'header' {
  const space = value.indexOf(' ');
  if (space === -1 || space > 16) return 'header';
  const scheme = value.slice(0, space).toLowerCase();
  if (scheme === 'bearer') return 'bearer';
  if (scheme === 'basic') return 'basic';
  return scheme === 'aws4-hmac-sha256' ? 'sigv4' : 'header';
}

/** The gateway token in a header value of a known form, or `""`. */
function extractHeaderToken(form: 'bearer' | 'basic' | 'sigv4' | 'header', value: string): string {
  if (form === 'header') return extractSchemeToken(value.trim());
  const rest = value.slice(value.indexOf(' ') + 1).trim();
  if (form === 'bearer') return gatewayTokenOrEmpty(rest);
  if (form === 'sigv4') return extractSigV4Token(rest);
  if (rest.length > BASIC_LENGTH_MAX) return '';
  const pair = Buffer.from(rest, 'base64').toString('latin1');
  const colon = pair.indexOf(':');
  if (colon === -1) return '';
  // The token is the password, or the user name where the password is empty (`curl -u token:`).
  return gatewayTokenOrEmpty(colon === pair.length - 1 ? pair.slice(0, colon) : pair.slice(colon + 1));
}

/** The token that is the whole value, or all of it behind a scheme of at most 16 characters. */
function extractSchemeToken(value: string): string {
  if (value.length === TOKEN_LENGTH) return gatewayTokenOrEmpty(value);
  if (value.length < TOKEN_LENGTH || !value.includes(TOKEN_START)) return '';
  const space = value.indexOf(' ');
  const rest = space === -1 || space > 16 ? value : value.slice(space + 1).trim();
  return SCHEME_VALUE.exec(rest)?.[1] ?? '';
}

/** `Credential=<token>/date/region/service/aws4_request, SignedHeaders=…`. */
function extractSigV4Token(parameters: string): string {
  const at = parameters.indexOf('Credential=');
  if (at === -1) return '';
  const start = at + 'Credential='.length;
  const slash = parameters.indexOf('/', start);
  return slash === -1 ? '' : gatewayTokenOrEmpty(parameters.slice(start, slash));
}

function extractQueryToken(query: string): { gatewayToken: string; form: TokenForm } | null {
  const apikey = findRawParam(query, isApikeyParam);
  if (apikey !== null) {
    const gatewayToken = gatewayTokenOrEmpty(decodeParamValue(apikey));
    if (gatewayToken !== '') return { gatewayToken, form: 'query' };
  }
  const credential = findRawParam(query, isAmzCredentialParam);
  if (credential === null) return null;
  const scope = decodeParamValue(credential);
  const slash = scope.indexOf('/');
  const gatewayToken = slash === -1 ? '' : gatewayTokenOrEmpty(scope.slice(0, slash));
  return gatewayToken === '' ? null : { gatewayToken, form: 'presigned' };
}

/** Any header or query value that is a token, and a path part that ends in one. A browser adds cookies by itself. */
function findInUnusualPlaces(
  headers: readonly string[],
  query: string | null,
  path: string,
  userJwt: string | null,
): TokenPosition | typeof CONFLICTING_TOKENS | null {
  const found: TokenPosition[] = [];
  for (let i = 0; i < headers.length; i += 2) {
    const headerName = headers[i]!;
    if (headers[i + 1]!.length < TOKEN_LENGTH || headerName === 'cookie') continue;
    const gatewayToken = extractSchemeToken(headers[i + 1]!.trim());
    if (gatewayToken !== '') found.push({ gatewayToken, form: 'header', headerName, userJwt });
  }
  if (query !== null && query.length > TOKEN_LENGTH) {
    editQueryParams(query, (_name, pair) => {
      const gatewayToken = gatewayTokenOrEmpty(decodeParamValue(pair));
      if (gatewayToken !== '') found.push({ gatewayToken, form: 'any_query', headerName: '', userJwt });
      return true;
    });
  }
  const inPath = path.length > TOKEN_LENGTH ? PATH_TOKEN.exec(path)?.[2] : undefined;
  if (inPath !== undefined) found.push({ gatewayToken: inPath, form: 'path', headerName: '', userJwt });
  const [first = null] = found;
  return found.some((one) => one.gatewayToken !== first?.gatewayToken) ? CONFLICTING_TOKENS : first;
}

/**
 * The path without the part that holds the client's gateway token where the account injects a credential: after
 * `pathPrefix`. A path without that part is returned as it is.
 */
export function removePathToken(path: string, pathPrefix: string, gatewayToken: string): string {
  if (!path.startsWith(pathPrefix) || !path.startsWith(gatewayToken, pathPrefix.length)) return path;
  const end = pathPrefix.length + TOKEN_LENGTH;
  return end === path.length || path[end] === '/' ? path.slice(end) : path;
}

const ANY_TOKEN = /acg_[0-9a-f]{64}/i;

/** Whether a text holds a gateway token, whichever one. */
export const containsGatewayToken = (text: string): boolean => text.length >= TOKEN_LENGTH && ANY_TOKEN.test(text);

const isApikeyParam = (name: string): boolean => name === AUTH_QUERY_PARAM;
const isAmzCredentialParam = (name: string): boolean => name.toLowerCase() === 'x-amz-credential';
const gatewayTokenOrEmpty = (text: string): string =>
  text.length === TOKEN_LENGTH && GATEWAY_TOKEN.test(text) ? text : '';

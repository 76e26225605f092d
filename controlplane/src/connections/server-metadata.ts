/**
 * Reads the metadata of MCP servers (RFC 9728) and of authorization servers (RFC 8414, OpenID Connect Discovery 1.0) as
 * the MCP specification says. All of it is hostile input. Pure. Throws {@link DiscoveryFailure}.
 */
import { DiscoveryFailure } from './discovery-failure.js';

const URL_CHARS_MAX = 2_048;
const SCOPE_CHARS_MAX = 2_000;
const ISSUERS_MAX = 20;

type Json = Readonly<Record<string, unknown>>;

interface Challenge {
  readonly resourceMetadata: string | null;
  readonly scope: string | null;
}

/** The first Bearer challenge of `WWW-Authenticate` (RFC 9110 §11.6.1); parameters of other schemes do not count. */
export function parseChallenge(header: string | null): Challenge {
  const parameters = new Map<string, string>();
  let scheme = '';
  const part = /[\s,]*([A-Za-z0-9!#$%&'*+.^_`|~-]+)(?:\s*=\s*("(?:[^"\\]|\\.)*"|[^\s,"]*)|\s+|$|(?=,))/gy;
  for (const [, name, value] of (header ?? '').slice(0, 8_192).matchAll(part)) {
    if (value === undefined) {
      if (scheme === 'bearer') break;
      scheme = name!.toLowerCase();
    } else if (scheme === 'bearer' && !parameters.has(name!.toLowerCase()))
      parameters.set(
        name!.toLowerCase(),
        value.startsWith('"') ? value.slice(1, -1).replaceAll(/\\(.)/g, '$1') : value,
      );
  }
  const scope = parameters.get('scope') ?? '';
  return { resourceMetadata: parameters.get('resource_metadata') ?? null, scope: readScopes(scope.split(' ')) };
}

/** Scope tokens of RFC 6749 §3.3, joined by blanks; null: none that can be requested. */
function readScopes(values: unknown): string | null {
  if (!Array.isArray(values)) return null;
  const scopes = [
    ...new Set(values.filter((one) => typeof one === 'string' && /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(one))),
  ];
  const text = scopes.join(' ');
  return text === '' || text.length > SCOPE_CHARS_MAX ? null : text;
}

/** Well-known addresses of the metadata of a server, in the order in which they are tried. */
export function listResourceMetadataUrls(serverUrl: string): string[] {
  const { origin, pathname } = new URL(serverUrl);
  const root = `${origin}/.well-known/oauth-protected-resource`;
  return pathname === '/' ? [root] : [root + pathname, root];
}

/** The same for an issuer (RFC 8414 §3.1 and §5). */
export function listServerMetadataUrls(issuer: string): string[] {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, '');
  const inserted = ['oauth-authorization-server', 'openid-configuration'].map(
    (name) => `${origin}/.well-known/${name}${path}`,
  );
  return path === '' ? inserted : [...inserted, `${origin}${path}/.well-known/openid-configuration`];
}

/** https, or plain http where the server itself has it, which the egress rules allow for the operator's ranges only. */
interface UrlRules {
  readonly allowsHttp: boolean;
}

/** A URL of metadata that may be requested or opened in the browser. */
export function readUrl(value: unknown, name: string, { allowsHttp }: UrlRules): string {
  const isText = typeof value === 'string' && value.length <= URL_CHARS_MAX && /^https?:\/\/[\x21-\x7e]+$/i.test(value);
  const url = isText && URL.canParse(value) ? new URL(value) : null;
  if (url === null || url.username !== '' || url.password !== '' || url.hash !== '' || (value as string).includes('\\'))
    throw new DiscoveryFailure(`${name} of the metadata is not a URL without user name and fragment`);
  if (url.protocol !== 'https:' && !allowsHttp) throw new DiscoveryFailure(`${name} of the metadata must use https`);
  return value as string;
}

interface ResourceMetadata {
  /** The resource of requests (RFC 8707). */
  readonly resource: string;
  readonly issuer: string;
  readonly scope: string | null;
}

/** The metadata of the server at `serverUrl`. It must name that server, or a path above it at the same origin. */
export function readResourceMetadata(metadata: Json, serverUrl: string, rules: UrlRules): ResourceMetadata {
  const resource = readUrl(metadata.resource, 'resource', rules);
  if (!coversServer(new URL(resource), new URL(serverUrl)))
    throw new DiscoveryFailure('the metadata names another resource than this server');
  const { authorization_servers: issuers, bearer_methods_supported: methods } = metadata;
  if (!Array.isArray(issuers) || issuers.length === 0 || issuers.length > ISSUERS_MAX)
    throw new DiscoveryFailure('the metadata names no authorization server');
  if (Array.isArray(methods) && methods.length > 0 && !methods.includes('header'))
    throw new DiscoveryFailure('the server takes no tokens in the header authorization');
  const issuer = readIssuer(issuers[0], rules);
  return { resource, issuer, scope: readScopes(metadata.scopes_supported) };
}

function coversServer(resource: URL, server: URL): boolean {
  const path = resource.pathname.replace(/\/$/, '');
  return (
    resource.origin === server.origin &&
    resource.search === '' &&
    (path === '' || server.pathname === path || server.pathname.startsWith(`${path}/`))
  );
}

function readIssuer(value: unknown, rules: UrlRules): string {
  const issuer = readUrl(value, 'authorization_servers', rules);
  if (new URL(issuer).search !== '') throw new DiscoveryFailure('the issuer of the metadata has a query');
  return issuer;
}

export interface ServerMetadata {
  readonly issuer: string;
  readonly authorizationEndpoint: string;
  readonly tokenEndpoint: string;
  readonly registrationEndpoint: string | null;
  readonly revocationEndpoint: string | null;
  /** Null: not stated. */
  readonly tokenAuthentication: readonly string[] | null;
  /** Each answer to an authorization request has `iss` (RFC 9207 §3). */
  readonly statesIssuer: boolean;
  /** The server reads client id metadata documents. */
  readonly readsClientDocuments: boolean;
  readonly offersOfflineAccess: boolean;
}

/** The metadata of the authorization server `issuer`, which must be that of the document (RFC 8414 §3.3). */
export function readServerMetadata(metadata: Json, issuer: string, rules: UrlRules): ServerMetadata {
  const stated = metadata.issuer;
  if (typeof stated !== 'string' || !isSameIssuer(stated, issuer))
    throw new DiscoveryFailure('the metadata of the authorization server names another issuer');
  const { code_challenge_methods_supported: challenges, response_types_supported: types } = metadata;
  if (!Array.isArray(challenges) || !challenges.includes('S256'))
    throw new DiscoveryFailure('the authorization server does not state that it supports PKCE with S256');
  if (Array.isArray(types) && !types.includes('code'))
    throw new DiscoveryFailure('the authorization server issues no authorization codes');
  const optional = (name: string) => (metadata[name] == null ? null : readUrl(metadata[name], name, rules));
  const authentication = metadata.token_endpoint_auth_methods_supported;
  const scopes = metadata.scopes_supported;
  return {
    issuer: stated,
    authorizationEndpoint: readUrl(metadata.authorization_endpoint, 'authorization_endpoint', rules),
    tokenEndpoint: readUrl(metadata.token_endpoint, 'token_endpoint', rules),
    registrationEndpoint: optional('registration_endpoint'),
    revocationEndpoint: optional('revocation_endpoint'),
    tokenAuthentication: Array.isArray(authentication) ? authentication.filter((one) => typeof one === 'string') : null,
    statesIssuer: metadata.authorization_response_iss_parameter_supported === true,
    readsClientDocuments: metadata.client_id_metadata_document_supported === true,
    offersOfflineAccess: Array.isArray(scopes) && scopes.includes('offline_access'),
  };
}

/** Vendors write the root of a host with and without its slash. Any other difference is another issuer. */
const isSameIssuer = (one: string, other: string): boolean =>
  one === other || (withoutRootSlash(one) === withoutRootSlash(other) && /^https?:\/\/[^/]+\/?$/.test(one));
const withoutRootSlash = (issuer: string): string => issuer.replace(/^(https?:\/\/[^/]+)\/$/, '$1');

/**
 * Finds the authorization server of an MCP server as the MCP specification says: the challenge of a request without a
 * credential, then well-known addresses. Nothing is fetched from another origin than that of the server before its
 * metadata names it. The egress guard checks every other origin, redirects are not followed, each document has at most
 * 64 KiB. Throws {@link DiscoveryFailure}.
 */
import { MintFailure, type MintFailureCode } from '../minting/mint-failure.js';
import { type EndpointAnswer, parseObject, type TokenEndpointClient } from '../minting/token-endpoint-client.js';
import { DiscoveryFailure, describeCause } from './discovery-failure.js';
import {
  listResourceMetadataUrls,
  listServerMetadataUrls,
  parseChallenge,
  readResourceMetadata,
  readServerMetadata,
  readUrl,
  type ServerMetadata,
} from './server-metadata.js';

const USER_AGENT = 'agent-credential-gateway';
const PROBE = {
  method: 'POST' as const,
  headers: {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': '2025-11-25',
    'user-agent': USER_AGENT,
  },
  body: JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'agent-credential-gateway', version: '1' },
    },
  }),
  headOnly: true,
};

interface ServerAddress {
  readonly orgId: string;
  /** The MCP endpoint. */
  readonly url: string;
  /** A tenant entered it. */
  readonly tenantGiven: boolean;
}

export interface FoundServer {
  readonly metadata: ServerMetadata;
  readonly resource: string;
  /** What to request; null: the server states no scopes. */
  readonly scope: string | null;
}

export async function discoverServer(client: TokenEndpointClient, address: ServerAddress): Promise<FoundServer> {
  const { origin, protocol } = new URL(address.url);
  const rules = { allowsHttp: protocol === 'http:' };
  const fetchMetadata = (url: string) => {
    const tenantGiven = address.tenantGiven || new URL(url).origin !== origin;
    return fetchObject(client, address.orgId, { url, tenantGiven });
  };
  const probe = await request(() => client.send(address.orgId, address, PROBE), address.url);
  const challenge = parseChallenge(probe.status === 401 ? probe.headers.get('www-authenticate') : null);
  const named = challenge.resourceMetadata;
  // The server itself vouches for its metadata, so a document at another origin does not count.
  const own =
    named !== null && URL.canParse(named) && new URL(named).origin === origin
      ? [readUrl(named, 'resource_metadata', rules)]
      : [];
  const documents = new Set([...own, ...listResourceMetadataUrls(address.url)]);
  const document = await findFirst([...documents], fetchMetadata);
  // Servers of 2025-03-26 have no metadata of their own and are their own authorization server.
  const { resource, issuer, scope } =
    document === null
      ? { resource: withoutRootSlash(address.url), issuer: origin, scope: null }
      : readResourceMetadata(document, address.url, rules);
  const found = await findFirst(listServerMetadataUrls(issuer), fetchMetadata);
  if (found === null) {
    throw new DiscoveryFailure(
      document === null ? 'the server has no OAuth metadata' : `the authorization server ${issuer} has no metadata`,
    );
  }
  const metadata = readServerMetadata(found, issuer, rules);
  const requested = challenge.scope ?? scope;
  return { metadata, resource, scope: withOfflineAccess(requested, metadata) };
}

/** Some servers issue refresh tokens only with this scope. */
function withOfflineAccess(scope: string | null, { offersOfflineAccess }: ServerMetadata): string | null {
  const isMissing = scope !== null && !scope.split(' ').includes('offline_access');
  return offersOfflineAccess && isMissing ? `${scope} offline_access` : scope;
}

const withoutRootSlash = (url: string): string => (new URL(url).pathname === '/' ? new URL(url).origin : url);

type Document = Readonly<Record<string, unknown>>;

/** Null: every address answers that it has no document. */
async function findFirst(
  urls: readonly string[],
  fetchDocument: (url: string) => Promise<Document | MintFailureCode | null>,
): Promise<Document | null> {
  let problem: DiscoveryFailure | null = null;
  for (const url of urls) {
    const found = await fetchDocument(url);
    if (found !== null && typeof found !== 'string') return found;
    if (found !== null) problem ??= new DiscoveryFailure(`${url} ${describeCause(found)}`);
  }
  if (problem !== null) throw problem;
  return null;
}

/** What is wrong with the answer; null: the address has no document. */
async function fetchObject(
  client: TokenEndpointClient,
  orgId: string,
  endpoint: { readonly url: string; readonly tenantGiven: boolean },
): Promise<Document | MintFailureCode | null> {
  const headers = { accept: 'application/json', 'user-agent': USER_AGENT };
  const { status, text } = await request(() => client.send(orgId, endpoint, { method: 'GET', headers }), endpoint.url);
  if (status >= 300 && status < 400) return 'redirect';
  if (status === 429) return 'rate_limited';
  if (status >= 500) return 'server_error';
  return status >= 400 ? null : (parseObject(text) ?? 'not_json');
}

async function request(send: () => Promise<EndpointAnswer>, url: string): Promise<EndpointAnswer> {
  try {
    return await send();
  } catch (error) {
    if (!(error instanceof MintFailure)) throw error;
    throw new DiscoveryFailure(`${url} ${describeCause(error.code)}`);
  }
}

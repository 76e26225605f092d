/**
 * How the gateway describes itself to authorization servers: in client id metadata documents, which it serves, and in
 * registrations (RFC 7591). Each provider has a document of its own, because it has a redirect URI of its own.
 */
import { isPublicIssuer } from '../issuer/issuer-setups.js';

/** `gateway` for built-in providers, else the organization. */
export const DOCUMENT_PATH = '/connect/:owner/:slug/client.json';

export interface ClientSettings {
  readonly publicUrl: string;
  readonly redirectUri: string;
  /** Null: authorization servers cannot fetch documents of this gateway. */
  readonly documentUrl: string | null;
}

/** `reachable`: the operator has not said that authorization servers cannot reach the gateway. */
export function createClientSettings(
  publicUrl: string,
  owner: string,
  slug: string,
  reachable: boolean,
): ClientSettings {
  const base = `${publicUrl}/connect/${owner}/${slug}`;
  const documentUrl = reachable && isPublicIssuer(publicUrl) ? `${base}/client.json` : null;
  return { publicUrl, redirectUri: `${base}/callback`, documentUrl };
}

/** Client metadata of RFC 7591 §2. */
export const describeClient = ({ publicUrl, redirectUri }: ClientSettings) => ({
  client_name: 'Agent Credential Gateway',
  client_uri: publicUrl,
  redirect_uris: [redirectUri],
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
  token_endpoint_auth_method: 'none',
  application_type: publicUrl.startsWith('https:') ? 'web' : 'native',
});

const OWNER = /^(?:gateway|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;
const SLUG = /^[a-z0-9-]{2,40}$/;

/**
 * The document of a path. It is built from the path alone, so it does not say which organizations or providers exist.
 * Null: the path names none.
 */
export function buildClientDocument(publicUrl: string, owner: string, slug: string) {
  if (!OWNER.test(owner) || !SLUG.test(slug)) return null;
  const settings = createClientSettings(publicUrl, owner, slug, true);
  return { client_id: `${publicUrl}/connect/${owner}/${slug}/client.json`, ...describeClient(settings) };
}

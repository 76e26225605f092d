/**
 * AWS STS: `AssumeRoleWithWebIdentity` with a token of the gateway, or `AssumeRole` with the account's own access key and
 * an `ExternalId` of the organization. Both keep a role that trusts one organization of this gateway from another one.
 * The machine's own identity is never used.
 * https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRole.html
 * https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRoleWithWebIdentity.html
 */
import aws4 from 'aws4';
import type { ExchangeContext } from './exchange-context.js';
import { MintFailure } from './mint-failure.js';
import type { MintedToken } from './read-token-answer.js';
import { renderRequired } from './render.js';
import type { TokenEndpoint, TokenEndpointClient } from './token-endpoint-client.js';

/** The longest session that every role allows. */
const DURATION_S = 3_600;
const CREDENTIAL = /^[\x21-\x3b\x3d\x3f-\x7e]{8,8192}$/;

/** What the trust policy of a role must name in `sts:ExternalId`. */
const externalIdOf = (orgId: string): string => `acg-${orgId}`;

export async function assumeAwsRole(
  client: TokenEndpointClient,
  { orgId, method: { token }, credentials }: ExchangeContext,
  endpoint: TokenEndpoint,
): Promise<MintedToken> {
  const body = new URLSearchParams({
    Action: 'AssumeRole',
    Version: '2011-06-15',
    RoleArn: renderRequired(token.role, credentials),
    RoleSessionName: 'agent-credential-gateway',
    ExternalId: externalIdOf(orgId),
    DurationSeconds: String(DURATION_S),
  }).toString();
  const { host, pathname } = new URL(endpoint.url);
  const signed = aws4.sign(
    {
      method: 'POST',
      host,
      path: pathname,
      service: 'sts',
      region: renderRequired(token.region, credentials),
      headers: { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' },
      body,
    },
    {
      accessKeyId: renderRequired(token.clientId, credentials),
      secretAccessKey: renderRequired(token.clientSecret, credentials),
    },
  );
  const headers = Object.fromEntries(
    Object.entries(signed.headers ?? {}).flatMap(([name, value]) =>
      /^(?:host|content-length)$/i.test(name) ? [] : [[name, String(value)]],
    ),
  );
  return readCredentials(await client.post(orgId, endpoint, { headers, body }));
}

/** The request is not signed: the token authenticates it. AWS shows the session name, the agent's id, in its logs. */
export async function assumeAwsRoleWithWebIdentity(
  client: TokenEndpointClient,
  { orgId, agentId, method: { token }, credentials }: ExchangeContext,
  endpoint: TokenEndpoint,
  webIdentityToken: string,
): Promise<MintedToken> {
  const body = new URLSearchParams({
    Action: 'AssumeRoleWithWebIdentity',
    Version: '2011-06-15',
    RoleArn: renderRequired(token.role, credentials),
    RoleSessionName: agentId ?? 'agent-credential-gateway',
    WebIdentityToken: webIdentityToken,
    DurationSeconds: String(DURATION_S),
  }).toString();
  const headers = { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' };
  return readCredentials(await client.post(orgId, endpoint, { headers, body }));
}

function readCredentials({ status, text }: { readonly status: number; readonly text: string }): MintedToken {
  if (status !== 200) throw describeRejection(status, text);
  const fields = {
    accessKeyId: readElement(text, 'AccessKeyId'),
    secretAccessKey: readElement(text, 'SecretAccessKey'),
    sessionToken: readElement(text, 'SessionToken'),
  };
  return { fields, lifetimeS: DURATION_S, scope: null };
}

/** The answer has each of these elements once, and their values have no markup. */
function readElement(xml: string, name: string): string {
  const start = xml.indexOf(`<${name}>`);
  const end = xml.indexOf(`</${name}>`, start);
  const value = start === -1 || end === -1 ? '' : xml.slice(start + name.length + 2, end).trim();
  if (!CREDENTIAL.test(value)) throw new MintFailure('bad_answer');
  return value;
}

const INVALID_CLIENT =
  /^(?:InvalidClientTokenId|SignatureDoesNotMatch|AccessDenied|InvalidIdentityToken|IDPRejectedClaim|ExpiredTokenException|UnrecognizedClientException)$/;

function describeRejection(status: number, text: string): MintFailure {
  const code = /<Code>([A-Za-z]{1,60})<\/Code>/.exec(text)?.[1] ?? null;
  if (code === 'IDPCommunicationError') return new MintFailure('server_error', code);
  if (code !== null && /^Throttling/.test(code)) return new MintFailure('rate_limited', code);
  return new MintFailure(
    code !== null && INVALID_CLIENT.test(code) ? 'invalid_client' : 'rejected',
    code ?? `HTTP ${status}`,
  );
}

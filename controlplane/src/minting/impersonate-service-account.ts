/**
 * Google: exchanges a federated token for a token of a service account.
 * https://cloud.google.com/iam/docs/reference/credentials/rest/v1/projects.serviceAccounts/generateAccessToken
 */
import type { ExchangeContext } from './exchange-context.js';
import { MintFailure } from './mint-failure.js';
import { type MintedToken, readTokenAnswer } from './read-token-answer.js';
import type { TokenEndpoint, TokenEndpointClient } from './token-endpoint-client.js';

const LIFETIME_S = 3_600;

export async function impersonateServiceAccount(
  client: TokenEndpointClient,
  { orgId }: ExchangeContext,
  endpoint: TokenEndpoint,
  federated: MintedToken,
  scope: string | null,
): Promise<MintedToken> {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${federated.fields.accessToken}` };
  const body = JSON.stringify({ scope: (scope ?? '').split(' '), lifetime: `${LIFETIME_S}s` });
  const { accessToken, expireTime } = await client.postForJson(orgId, endpoint, { headers, body });
  const expiresMs = typeof expireTime === 'string' ? Date.parse(expireTime) : Number.NaN;
  if (Number.isNaN(expiresMs)) throw new MintFailure('bad_answer');
  // Google states the end by its own clock; the request asked for this lifetime.
  const seconds = Math.min(Math.floor((expiresMs - Date.now()) / 1_000), LIFETIME_S);
  return readTokenAnswer({ access_token: accessToken, token_type: 'Bearer', expires_in: seconds }, {}, null, true);
}

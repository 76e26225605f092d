/** Resend: e-mails one by one and in batches, domains. Formats as the provider documents them. */

import { type ReceivedRequest, StandInProvider } from '@acg/stand-in-provider/stand-in-provider';
import { jsonResponse, type StandInResponse } from '@acg/stand-in-provider/stand-in-response';
import { PROVIDER_CREDENTIALS } from './provider-credentials.js';

const RATE_HEADERS = [
  ['ratelimit-limit', '5'],
  ['ratelimit-remaining', '4'],
  ['ratelimit-reset', '1'],
] as const;
const ID = '49a3999c-0ce1-4ea6-ab68-afcd6dc2e794';

export class ResendStandIn extends StandInProvider {
  protected override respond(request: ReceivedRequest): StandInResponse {
    const { authorization, 'user-agent': agent } = request.headers;
    if (agent === undefined) return { status: 403, headers: [], body: Buffer.from('error code: 1010') };
    if (authorization === undefined) return errorResponse(401, 'missing_api_key', 'Missing API Key');
    if (authorization !== `Bearer ${PROVIDER_CREDENTIALS.resend}`)
      return errorResponse(403, 'invalid_api_key', 'API key is invalid');
    switch (`${request.method} ${request.path}`) {
      case 'POST /emails':
        return this.#send(request);
      case 'POST /emails/batch': {
        const mails = JSON.parse(request.body.toString('utf8')) as unknown[];
        return jsonResponse(200, { data: mails.map((_, i) => ({ id: `${ID.slice(0, -1)}${i}` })) }, RATE_HEADERS);
      }
      case `GET /emails/${ID}`:
        return jsonResponse(
          200,
          { object: 'email', id: ID, to: ['b@example.com'], from: 'a@example.com' },
          RATE_HEADERS,
        );
      case 'GET /domains':
        return jsonResponse(200, { object: 'list', has_more: false, data: [] }, RATE_HEADERS);
      default:
        return errorResponse(404, 'not_found', 'The requested endpoint does not exist');
    }
  }

  #send(request: ReceivedRequest): StandInResponse {
    const mail = JSON.parse(request.body.toString('utf8')) as { to?: unknown };
    if (mail.to === undefined) return errorResponse(422, 'missing_required_field', 'Missing `to` field.');
    return jsonResponse(200, { id: ID }, RATE_HEADERS);
  }
}

const errorResponse = (statusCode: number, name: string, message: string): StandInResponse =>
  jsonResponse(statusCode, { statusCode, name, message }, RATE_HEADERS);

/** Resend: e-mails one by one and in batches, domains. Formats as the provider documents them. */
import { type Answer, json } from './answer.js';
import { REAL } from './credentials.js';
import { type SeenRequest, StandIn } from './stand-in.js';

const RATE_HEADERS = [
  ['ratelimit-limit', '5'],
  ['ratelimit-remaining', '4'],
  ['ratelimit-reset', '1'],
] as const;
const ID = '49a3999c-0ce1-4ea6-ab68-afcd6dc2e794';

export class ResendStandIn extends StandIn {
  protected override answer(request: SeenRequest): Answer {
    const { authorization, 'user-agent': agent } = request.headers;
    if (agent === undefined) return { status: 403, headers: [], body: Buffer.from('error code: 1010') };
    if (authorization === undefined) return failure(401, 'missing_api_key', 'Missing API Key');
    if (authorization !== `Bearer ${REAL.resend}`) return failure(403, 'invalid_api_key', 'API key is invalid');
    switch (`${request.method} ${request.path}`) {
      case 'POST /emails':
        return this.#send(request);
      case 'POST /emails/batch': {
        const mails = JSON.parse(request.body.toString('utf8')) as unknown[];
        return json(200, { data: mails.map((_, i) => ({ id: `${ID.slice(0, -1)}${i}` })) }, RATE_HEADERS);
      }
      case `GET /emails/${ID}`:
        return json(200, { object: 'email', id: ID, to: ['b@example.com'], from: 'a@example.com' }, RATE_HEADERS);
      case 'GET /domains':
        return json(200, { object: 'list', has_more: false, data: [] }, RATE_HEADERS);
      default:
        return failure(404, 'not_found', 'The requested endpoint does not exist');
    }
  }

  #send(request: SeenRequest): Answer {
    const mail = JSON.parse(request.body.toString('utf8')) as { to?: unknown };
    if (mail.to === undefined) return failure(422, 'missing_required_field', 'Missing `to` field.');
    return json(200, { id: ID }, RATE_HEADERS);
  }
}

const failure = (statusCode: number, name: string, message: string): Answer =>
  json(statusCode, { statusCode, name, message }, RATE_HEADERS);

/** Vercel: user, projects, deployments and their event stream, file upload. Formats as the provider documents them. */
import { createHash } from 'node:crypto';
import { type ReceivedRequest, StandInProvider } from '@acg/stand-in-provider/stand-in-provider';
import { jsonResponse, type StandInResponse, utf8 } from '@acg/stand-in-provider/stand-in-response';
import { PROVIDER_CREDENTIALS } from './provider-credentials.js';

/** Same names as the gateway's own headers, per endpoint: the agent must see the provider's values. */
const RATE_HEADERS = [
  ['x-ratelimit-limit', '600'],
  ['x-ratelimit-remaining', '599'],
  ['x-ratelimit-reset', '1767225660'],
] as const;

export class VercelStandIn extends StandInProvider {
  protected override respond(request: ReceivedRequest): StandInResponse {
    if (request.headers.authorization !== `Bearer ${PROVIDER_CREDENTIALS.vercel}`) {
      const error = { code: 'forbidden', message: 'Not authorized', invalidToken: true };
      return jsonResponse(403, { error }, RATE_HEADERS);
    }
    switch (`${request.method} ${request.path}`) {
      case 'GET /v2/user':
        return jsonResponse(200, { user: USER }, RATE_HEADERS);
      case 'GET /v10/projects':
        return jsonResponse(200, { projects: [], pagination: PAGINATION }, RATE_HEADERS);
      case 'GET /v7/deployments':
        return jsonResponse(200, { deployments: [DEPLOYMENT], pagination: PAGINATION }, RATE_HEADERS);
      case 'GET /v3/deployments/dpl_one/events':
        return { status: 200, headers: [['content-type', 'application/stream+json']], body: EVENTS };
      case 'POST /v2/files':
        return handleFileUpload(request);
      default:
        return jsonResponse(
          404,
          { error: { code: 'not_found', message: 'The page could not be found' } },
          RATE_HEADERS,
        );
    }
  }
}

const PAGINATION = { count: 1, next: null, prev: null };
const USER = {
  id: 'user_one',
  email: 'agent@example.com',
  name: 'Agent',
  username: 'agent',
  avatar: null,
  defaultTeamId: 'team_one',
  limited: true,
};
const DEPLOYMENT = {
  uid: 'dpl_one',
  name: 'site',
  projectId: 'prj_one',
  url: 'site.vercel.app',
  created: 1_767_225_600_000,
  createdAt: 1_767_225_600_000,
  creator: { uid: 'user_one', username: 'agent' },
  inspectorUrl: null,
  readyState: 'READY',
  state: 'READY',
  type: 'LAMBDAS',
  target: 'production',
};
const EVENTS = ['created', 'ready'].map((type) => utf8(`${JSON.stringify({ type, created: 1_767_225_600_000 })}\n`));

/** The digest header must match the bytes: a body changed on the way is rejected. */
function handleFileUpload(request: ReceivedRequest): StandInResponse {
  const digest = createHash('sha1').update(request.body).digest('hex');
  if (request.headers['x-vercel-digest'] !== digest || request.headers['content-length'] === undefined) {
    const error = { code: 'bad_request', message: 'File digest does not match the content' };
    return jsonResponse(400, { error }, RATE_HEADERS);
  }
  return jsonResponse(200, { urls: [] }, RATE_HEADERS);
}

/** GitHub, Slack, Stripe, Linear, Notion and Twilio. Formats of the vendors' API references. */
import { jsonResponse } from '@acg/stand-in-provider/stand-in-response';
import { hasOnlyCredential, parseJsonBody, VendorStandIn } from './vendor-stand-in.js';

export const SAAS_VENDOR_CREDENTIALS = {
  github: { apiKey: 'github_pat_realGithubCredential0123456789' },
  slack: { apiKey: 'xoxb-0123456789-realSlackCredential' },
  stripe: { apiKey: 'rk_test_realStripeCredential0123456789' },
  linear: { apiKey: 'lin_api_realLinearCredential0123456789' },
  notion: { apiKey: 'ntn_realNotionCredential0123456789' },
  twilio: { keySid: 'SK0123456789abcdef0123456789abcdef', keySecret: 'realTwilioCredential0123456789ab' },
} as const;

const bearer = (slug: 'github' | 'slack' | 'stripe' | 'notion') =>
  hasOnlyCredential('authorization', `Bearer ${SAAS_VENDOR_CREDENTIALS[slug].apiKey}`);

const ISSUES = '/repos/octocat/hello/issues';

export const github = new VendorStandIn({
  isAuthorized: bearer('github'),
  notFound: jsonResponse(404, {
    message: 'Not Found',
    documentation_url: 'https://docs.github.com/rest',
    status: '404',
  }),
  calls: {
    [`GET ${ISSUES}/1`]: () => jsonResponse(200, { number: 1, title: 'one' }),
    [`POST ${ISSUES}`]: (request) => jsonResponse(201, { number: 2, title: parseJsonBody(request).title }),
    // GitHub's pages are under the numeric id of the repository.
    [`GET ${ISSUES}`]: (_request, origin) =>
      jsonResponse(
        200,
        [{ number: 1 }],
        [
          [
            'link',
            `<${origin}/repositories/7/issues?page=2>; rel="next", <${origin}/repositories/7/issues?page=2>; rel="last"`,
          ],
        ],
      ),
    'GET /repositories/7/issues': (_request, origin) =>
      jsonResponse(200, [{ number: 2 }], [['link', `<${origin}/repositories/7/issues?page=1>; rel="prev"`]]),
  },
});

/** https://uploads.github.com */
export const githubUploads = new VendorStandIn({
  isAuthorized: bearer('github'),
  notFound: jsonResponse(404, { message: 'Not Found' }),
  calls: {
    'POST /repos/octocat/hello/releases/1/assets': ({ bodyBytes, query }) =>
      jsonResponse(201, { id: 1, name: new URLSearchParams(query).get('name'), size: bodyBytes }),
  },
});

export const slack = new VendorStandIn({
  isAuthorized: bearer('slack'),
  notFound: jsonResponse(200, { ok: false, error: 'unknown_method' }),
  calls: {
    'POST /api/auth.test': () => jsonResponse(200, { ok: true, user_id: 'U1', team_id: 'T1' }),
    'POST /api/chat.postMessage': ({ body }) =>
      new URLSearchParams(body.toString()).get('channel') === 'C1'
        ? jsonResponse(200, { ok: true, channel: 'C1', ts: '1.2' })
        : jsonResponse(200, { ok: false, error: 'channel_not_found' }),
    'POST /api/conversations.list': ({ body }) =>
      new URLSearchParams(body.toString()).get('cursor') === 'second'
        ? jsonResponse(200, { ok: true, channels: [{ id: 'C2' }], response_metadata: { next_cursor: '' } })
        : jsonResponse(200, { ok: true, channels: [{ id: 'C1' }], response_metadata: { next_cursor: 'second' } }),
  },
});

const customer = (id: string, email: string | null = null): object => ({ id, object: 'customer', email });
const STRIPE_ERROR = {
  type: 'invalid_request_error',
  code: 'resource_missing',
  message: 'No such customer',
  param: 'id',
};

export const stripe = new VendorStandIn({
  isAuthorized: bearer('stripe'),
  notFound: jsonResponse(404, { error: STRIPE_ERROR }, [['request-id', 'req_one']]),
  calls: {
    'GET /v1/customers/cus_one': () => jsonResponse(200, customer('cus_one')),
    'POST /v1/customers': ({ body }) =>
      jsonResponse(200, customer('cus_new', new URLSearchParams(body.toString()).get('email'))),
    'GET /v1/customers': ({ query }) =>
      query.includes('starting_after=cus_one')
        ? jsonResponse(200, { object: 'list', url: '/v1/customers', has_more: false, data: [customer('cus_two')] })
        : jsonResponse(200, { object: 'list', url: '/v1/customers', has_more: true, data: [customer('cus_one')] }),
  },
});

const DATES = { createdAt: '2026-11-23T10:00:00.000Z', updatedAt: '2026-11-23T10:00:00.000Z' };
const label = (name: string): object => ({
  __typename: 'IssueLabel',
  id: name,
  name,
  color: '#000',
  isGroup: false,
  ...DATES,
});
const labels = (name: string, hasNextPage: boolean): object => ({
  issueLabels: {
    __typename: 'IssueLabelConnection',
    nodes: [label(name)],
    pageInfo: { startCursor: name, endCursor: name, hasNextPage, hasPreviousPage: !hasNextPage },
  },
});

export const linear = new VendorStandIn({
  isAuthorized: hasOnlyCredential('authorization', SAAS_VENDOR_CREDENTIALS.linear.apiKey),
  notFound: jsonResponse(404, { errors: [{ message: 'Not found' }] }),
  calls: {
    'POST /graphql': (request) => {
      const { query, variables } = parseJsonBody(request) as { query: string; variables: Record<string, unknown> };
      const operation = /(?:query|mutation) (\w+)/.exec(query)?.[1];
      if (operation === 'issueLabel') return jsonResponse(200, { data: { issueLabel: label(String(variables.id)) } });
      if (operation === 'createIssue')
        return jsonResponse(200, {
          data: {
            issueCreate: { __typename: 'IssuePayload', lastSyncId: 7, success: true, issue: { id: 'issue_one' } },
          },
        });
      if (operation === 'issueLabels')
        return jsonResponse(200, { data: variables.after === 'a' ? labels('b', false) : labels('a', true) });
      const extensions = { type: 'invalid input', userError: true, userPresentableMessage: 'No such team' };
      return jsonResponse(400, { errors: [{ message: 'Entity not found', path: [operation], extensions }] });
    },
  },
});

const page = (id: string): object => ({ object: 'page', id, properties: {} });
const notionList = (id: string, next: string | null): object => ({
  object: 'list',
  type: 'page_or_data_source',
  results: [page(id)],
  next_cursor: next,
  has_more: next !== null,
});

export const notion = new VendorStandIn({
  isAuthorized: (request) => bearer('notion')(request) && request.headers['notion-version'] !== undefined,
  notFound: jsonResponse(404, {
    object: 'error',
    status: 404,
    code: 'object_not_found',
    message: 'Could not find page',
  }),
  calls: {
    'GET /v1/pages/11111111-1111-4111-8111-111111111111': () => jsonResponse(200, page('one')),
    'POST /v1/pages': () => jsonResponse(200, page('new')),
    'POST /v1/search': (request) =>
      jsonResponse(
        200,
        parseJsonBody(request).start_cursor === 'second' ? notionList('b', null) : notionList('a', 'second'),
      ),
  },
});

/** Of the account in the paths; the API key is the credential. */
export const TWILIO_ACCOUNT = 'AC00000000000000000000000000000000';
const TWILIO = `/2010-04-01/Accounts/${TWILIO_ACCOUNT}`;
const message = (sid: string): object => ({ sid, account_sid: TWILIO_ACCOUNT, body: 'Hello', status: 'queued' });
const { keySid, keySecret } = SAAS_VENDOR_CREDENTIALS.twilio;
const twilioAuth = hasOnlyCredential('authorization', `Basic ${btoa(`${keySid}:${keySecret}`)}`);
const TWILIO_ERROR = jsonResponse(404, {
  code: 20404,
  message: 'The requested resource was not found',
  more_info: 'https://www.twilio.com/docs/errors/20404',
  status: 404,
});

export const twilioApi = new VendorStandIn({
  isAuthorized: twilioAuth,
  notFound: TWILIO_ERROR,
  calls: {
    [`POST ${TWILIO}/Messages.json`]: ({ body }) =>
      jsonResponse(201, { ...message('SM1'), body: new URLSearchParams(body.toString()).get('Body') }),
    [`GET ${TWILIO}/Messages/SM1.json`]: () => jsonResponse(200, message('SM1')),
    [`GET ${TWILIO}/Messages.json`]: ({ query }) =>
      query.includes('PageToken=second')
        ? jsonResponse(200, { messages: [message('SM2')], next_page_uri: null })
        : jsonResponse(200, {
            messages: [message('SM1')],
            next_page_uri: `${TWILIO}/Messages.json?PageSize=1&Page=1&PageToken=second`,
          }),
  },
});

/** https://verify.twilio.com */
export const twilioVerify = new VendorStandIn({
  isAuthorized: twilioAuth,
  notFound: TWILIO_ERROR,
  calls: {
    'POST /v2/Services/VA1/Verifications': () => jsonResponse(201, { sid: 'VE1', status: 'pending' }),
  },
});

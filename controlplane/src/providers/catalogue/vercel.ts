import { type BuiltInProvider, bearerInjection, fixedAddress, secret, text } from './built-in-provider.js';

const BASE_URL = 'https://api.vercel.com';

export const vercel: BuiltInProvider = {
  slug: 'vercel',
  displayName: 'Vercel',
  baseUrl: BASE_URL,
  authType: 'bearer',
  authName: null,
  credentialFields: [
    secret('apiKey', { label: 'Access token' }),
    text('teamId', {
      label: 'Team',
      placeholder: 'team_…',
      hint: 'Calls go to this team, whichever team the client names.',
    }),
  ],
  address: fixedAddress(BASE_URL),
  // With a team, only the account selects it: the client's choice is replaced.
  inject: ({ apiKey, teamId }) => ({
    ...bearerInjection(apiKey!),
    extraQuery: teamId === undefined ? [] : [{ name: 'teamId', value: teamId }],
    // This parameter selects a team as well.
    dropQuery: teamId === undefined ? [] : ['slug'],
  }),
  usageFormat: 'none',
  priceProvider: '',
  failureStatuses: [500, 502, 503, 504],
  failureExemptMarker: '',
  // An invalid token gets 403, like a valid token without the permission.
  probe: {
    path: '/v2/user',
    refused: (status, body) => status === 401 || (status === 403 && /"invalidToken"\s*:\s*true/.test(body)),
  },
  // The REST reference: vercel.com/docs/rest-api
  sensitiveCalls: [
    { call: '* /v*/user/tokens/**', why: 'tokens that survive revocation' },
    { call: '* /v*/oauth/**', why: 'exchanges codes for tokens' },
    { call: '* /v*/integrations/**/access_token', why: 'the token of an integration' },
    { call: '* /v*/edge-config/*/token/**', why: 'tokens that read an edge config without the account' },
    { call: '* /v*/edge-config/*/tokens/**', why: 'the same, all of them' },
    { call: '* /v*/teams/*/members/**', why: 'who has access to the team' },
    { call: '* /v*/teams/*/request/**', why: 'requests to join the team' },
    { call: '* /v*/projects/*/members/**', why: 'who has access to the project' },
    { call: '* /v*/access-groups/**', why: 'who has access to projects, by group' },
    { call: '* /v*/projects/*/transfer-request/**', why: 'hands a project to another team' },
    { call: '* /v*/projects/transfer-request/**', why: 'the same, at the other team' },
    { call: '* /v*/projects/*/protection-bypass', why: 'a secret that opens protected deployments' },
    { call: 'GET /v*/projects/*/env/*', why: 'the decrypted value of an environment variable' },
    { call: 'GET /v*/env/*', why: 'the same of one that projects share' },
    { call: 'GET /v*/projects/*/env', query: ['decrypt'], why: 'the decrypted values of all environment variables' },
    { call: 'GET /v*/env', query: ['decrypt'], why: 'the same of those that projects share' },
  ],
  modelCalls: [],
  websocket: true,
};

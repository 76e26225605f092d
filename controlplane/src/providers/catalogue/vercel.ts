import { type BuiltInProvider, bearer, fixedAddress, secret, text } from './provider.js';

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
      hint: 'Calls go to this team, whatever the client asks for.',
    }),
  ],
  address: fixedAddress(BASE_URL),
  // With a team the account alone says which one: the client's own choice is replaced.
  inject: ({ apiKey, teamId }) => ({
    ...bearer(apiKey!),
    extraQuery: teamId === undefined ? [] : [{ name: 'teamId', value: teamId }],
  }),
  usageFormat: 'none',
  priceProvider: '',
  failureStatuses: [500, 502, 503, 504],
  failureExemptMarker: '',
  // A token that is not valid is 403, like a valid one that may not.
  probe: {
    path: '/v2/user',
    refused: (status, body) => status === 401 || (status === 403 && /"invalidToken"\s*:\s*true/.test(body)),
  },
  sensitiveCalls: [
    { call: '* /v*/user/tokens/**', why: 'tokens that survive revocation' },
    { call: '* /v*/oauth/**', why: 'exchanges codes for tokens' },
    { call: '* /v*/integrations/**/access_token', why: 'the token of an integration' },
    { call: '* /v*/teams/*/members/**', why: 'who has access to the team' },
    { call: '* /v*/projects/*/protection-bypass', why: 'a secret that opens protected deployments' },
  ],
  modelCalls: [],
  websocket: true,
};

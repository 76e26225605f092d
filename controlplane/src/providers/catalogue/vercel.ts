import { type BuiltInProvider, bearer, fixedAddress, secret, text } from './provider.js';

const BASE_URL = 'https://api.vercel.com';

export const vercel: BuiltInProvider = {
  slug: 'vercel',
  displayName: 'Vercel',
  baseUrl: BASE_URL,
  authType: 'bearer',
  authName: null,
  credentialFields: [secret('apiKey'), text('teamId')],
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
  websocket: true,
};

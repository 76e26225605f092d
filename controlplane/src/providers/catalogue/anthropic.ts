import { type BuiltInProvider, fixedAddress, isRejectedWith401, secret } from './built-in-provider.js';
import { ANTHROPIC_CALLS } from './model-name-locations.js';

const BASE_URL = 'https://api.anthropic.com';

export const anthropic: BuiltInProvider = {
  slug: 'anthropic',
  displayName: 'Anthropic',
  baseUrl: BASE_URL,
  authType: 'header',
  authName: 'x-api-key',
  credentialFields: [secret('apiKey', { label: 'API key', placeholder: 'sk-ant-…' })],
  address: fixedAddress(BASE_URL),
  // Sends the key in the header in which the client sent its token: SDKs from 1.0 on use Bearer, older ones x-api-key.
  inject: ({ apiKey }) => ({
    header: {
      name: 'x-api-key',
      prefix: '',
      secret: apiKey!,
      alternatives: [{ name: 'authorization', prefix: 'Bearer ' }],
    },
  }),
  usageFormat: 'anthropic',
  priceProvider: 'anthropic',
  // 529 overloaded_error is a failure of Anthropic, not of the tenant.
  failureStatuses: [500, 502, 503, 504, 529],
  failureExemptMarker: '',
  probe: { path: '/v1/models?limit=1', headers: { 'anthropic-version': '2023-06-01' }, refused: isRejectedWith401 },
  sensitiveCalls: [{ call: '* /v1/organizations/**', why: 'admin API: keys, members, invitations' }],
  modelCalls: ANTHROPIC_CALLS,
  websocket: false,
};

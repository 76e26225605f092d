import { type BuiltInProvider, bearerInjection, fixedAddress, secret } from './built-in-provider.js';

const BASE_URL = 'https://api.resend.com';

export const resend: BuiltInProvider = {
  slug: 'resend',
  displayName: 'Resend',
  baseUrl: BASE_URL,
  authType: 'bearer',
  authName: null,
  credentialFields: [secret('apiKey', { label: 'API key', placeholder: 're_…' })],
  address: fixedAddress(BASE_URL),
  inject: ({ apiKey }) => bearerInjection(apiKey!),
  usageFormat: 'resend',
  priceProvider: '',
  failureStatuses: [500, 501, 502, 503, 504, 520, 521, 522, 523, 524, 525, 526],
  failureExemptMarker: '',
  // A key that may only send e-mail gets 401 here as well, with another error name.
  probe: { path: '/domains', refused: (status, body) => status >= 400 && /"(?:invalid|missing)_api_key"/.test(body) },
  sensitiveCalls: [{ call: '* /api-keys/**', why: 'long-lived keys' }],
  modelCalls: [],
  websocket: false,
};

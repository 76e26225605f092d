import { type BuiltInProvider, bearer, fixedAddress, secret } from './provider.js';

const BASE_URL = 'https://api.resend.com';

export const resend: BuiltInProvider = {
  slug: 'resend',
  displayName: 'Resend',
  baseUrl: BASE_URL,
  authType: 'bearer',
  authName: null,
  credentialFields: [secret('apiKey')],
  address: fixedAddress(BASE_URL),
  inject: ({ apiKey }) => bearer(apiKey!),
  usageFormat: 'resend',
  priceProvider: '',
  failureStatuses: [500, 501, 502, 503, 504, 520, 521, 522, 523, 524, 525, 526],
  failureExemptMarker: '',
  sensitiveCalls: [{ call: '* /api-keys/**', why: 'long-lived keys' }],
  modelCalls: [],
  websocket: false,
};

import { type BuiltInProvider, isRejectedWith401, secret, text } from './built-in-provider.js';

export const supabase: BuiltInProvider = {
  slug: 'supabase',
  displayName: 'Supabase',
  baseUrl: null,
  authType: 'header',
  authName: 'apikey',
  credentialFields: [
    secret('apiKey', { label: 'API key', hint: 'A secret key bypasses row-level security.' }),
    text('url', { label: 'Project URL', placeholder: 'https://abcdefghij.supabase.co' }, true, 'url'),
  ],
  address: ({ url }) => ({ baseUrl: url!, tenantGiven: true }),
  // The SDK sends its key twice. The JWT of a signed-in user in Authorization is passed unchanged.
  inject: ({ apiKey }) => ({
    header: { name: 'apikey', prefix: '', secret: apiKey!, alsoBearerUnlessUserJwt: true },
  }),
  usageFormat: 'none',
  priceProvider: '',
  // 500 is an error of a query, so an agent could cause it deliberately. 540 means that the project is paused.
  failureStatuses: [502, 503, 504, 520, 521, 522, 523, 524, 525, 526, 540],
  failureExemptMarker: '',
  probe: { path: '/rest/v1/', refused: isRejectedWith401 },
  sensitiveCalls: [
    { call: '* /auth/v1/admin/**', why: 'logs in as, or sets the password of, any user of the project' },
    // supabase.com/docs/reference/javascript/auth-admin-inviteuserbyemail
    { call: 'POST /auth/v1/invite', why: 'creates an account of the project for an e-mail address' },
    // Paths that a self-hosted gateway serves to a secret key: github.com/supabase/supabase,
    // docker/volumes/api/kong.yml
    { call: '* /pg/**', why: 'any SQL on the database, roles and passwords too' },
    { call: '* /realtime/v1/api/tenants/**', why: 'tenants of Realtime with their JWT secrets' },
  ],
  modelCalls: [],
  websocket: true,
};

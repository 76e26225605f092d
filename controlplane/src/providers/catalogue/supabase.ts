import { type BuiltInProvider, isRejectedWith401, secret, text } from './built-in-provider.js';

export const supabase: BuiltInProvider = {
  slug: 'supabase',
  displayName: 'Supabase',
  baseUrl: null,
  authType: 'header',
  authName: 'apikey',
  credentialFields: [
    secret('apiKey', { label: 'API key', hint: 'With a secret key row-level security does not hold.' }),
    text('url', { label: 'Project URL', placeholder: 'https://abcdefghij.supabase.co' }, true, 'url'),
  ],
  address: ({ url }) => ({ baseUrl: url!, tenantGiven: true }),
  // The SDK sends its key twice; a signed-in user's own JWT in Authorization passes instead.
  inject: ({ apiKey }) => ({
    header: { name: 'apikey', prefix: '', secret: apiKey!, alsoBearerUnlessUserJwt: true },
  }),
  usageFormat: 'none',
  priceProvider: '',
  // 500 is a query's own error: an agent could cause it at will. 540: project paused.
  failureStatuses: [502, 503, 504, 520, 521, 522, 523, 524, 525, 526, 540],
  failureExemptMarker: '',
  probe: { path: '/rest/v1/', refused: isRejectedWith401 },
  sensitiveCalls: [
    { call: '* /auth/v1/admin/**', why: 'logs in as, or sets the password of, any user of the project' },
    // supabase.com/docs/reference/javascript/auth-admin-inviteuserbyemail
    { call: 'POST /auth/v1/invite', why: 'gives an address an account of the project' },
    // What a self-hosted gateway passes to a secret key: github.com/supabase/supabase, docker/volumes/api/kong.yml
    { call: '* /pg/**', why: 'any SQL on the database, roles and passwords too' },
    { call: '* /realtime/v1/api/tenants/**', why: 'tenants of realtime with their JWT secrets' },
  ],
  modelCalls: [],
  websocket: true,
};

import {
  type BuiltInProvider,
  bearerInjection,
  fixedAddress,
  isRejectedWith401,
  secret,
  text,
} from './built-in-provider.js';
import { OPENAI_CALLS } from './model-name-locations.js';

const BASE_URL = 'https://api.openai.com';

/** Only the account decides which organization and project is billed: headers of the client are removed. */
const ACCOUNT_HEADERS = ['openai-organization', 'openai-project'];

export const openai: BuiltInProvider = {
  slug: 'openai',
  displayName: 'OpenAI',
  baseUrl: BASE_URL,
  authType: 'bearer',
  authName: null,
  credentialFields: [
    secret('apiKey', { label: 'API key', placeholder: 'sk-…' }),
    text('organization', {
      label: 'Organization',
      placeholder: 'org-…',
      hint: 'Billed instead of the key’s default organization.',
    }),
    text('project', { label: 'Project', placeholder: 'proj_…', hint: 'Billed instead of the key’s default project.' }),
  ],
  address: fixedAddress(BASE_URL),
  inject: ({ apiKey, organization, project }) => ({
    ...bearerInjection(apiKey!),
    extraHeaders: [
      ...(organization === undefined ? [] : [{ name: 'openai-organization', value: organization }]),
      ...(project === undefined ? [] : [{ name: 'openai-project', value: project }]),
    ],
    dropHeaders: ACCOUNT_HEADERS,
  }),
  usageFormat: 'openai',
  priceProvider: 'openai',
  failureStatuses: [500, 502, 503, 504],
  failureExemptMarker: '',
  probe: { path: '/v1/models', refused: isRejectedWith401 },
  sensitiveCalls: [
    { call: '* /v1/organization/**', why: 'admin and service-account keys, members, invitations' },
    // platform.openai.com/docs/api-reference/project-role-assignments
    { call: '* /v1/projects/**', why: 'roles of a project, of its users and of its groups' },
    // platform.openai.com/docs/api-reference/fine-tuning/create-permission
    { call: '* /v1/fine_tuning/checkpoints/*/permissions/**', why: 'which projects may use a fine-tuned model' },
    {
      call: 'POST /v1/realtime/client_secrets',
      why: 'a short-lived key that bypasses the gateway, metering and budgets',
    },
    { call: 'POST /v1/realtime/sessions', why: 'the same under its former name' },
    { call: 'POST /v1/realtime/transcription_sessions', why: 'the same, for transcriptions' },
    { call: '* /v1/realtime/calls/**', why: 'a media session between the caller and the provider' },
    { call: 'POST /v1/chatkit/sessions', why: 'a client secret for a browser' },
  ],
  modelCalls: OPENAI_CALLS,
  websocket: false,
};

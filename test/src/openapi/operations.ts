/**
 * Name and summary of each operation, used by the API document and by generated clients: a unique name, its group, and
 * one line. `statuses` are those that do not follow from the route itself (error-statuses.ts).
 */
export const TAGS = {
  Installation: 'What this installation is, and how its providers are.',
  Authentication: 'Accounts, passwords, logging in; programs by device code.',
  Sessions: 'Where the user is logged in.',
  Organizations: 'The tenant that everything belongs to.',
  Members: 'Who may do what in an organization.',
  'Management tokens': 'For programs that call this API: CI, scripts, configuration as code.',
  Projects: 'Groups of agents within an organization.',
  Agents: 'Those that call providers through the gateway; with their limits.',
  'API keys': 'Gateway tokens: what an agent holds instead of credentials.',
  Providers: 'Built-in ones and those of the organization.',
  Accounts: 'The credentials of an agent at a provider.',
  Usage: 'Requests, tokens, cost, latency, refusals; from the ledger.',
  Webhooks: 'Endpoints, deliveries, and the events that are sent to them.',
  Events: 'What happened, and who gets mail about it.',
  Audit: 'Who changed what.',
} as const;

export interface Operation {
  readonly id: string;
  readonly tag: keyof typeof TAGS;
  readonly summary: string;
  readonly statuses?: readonly number[];
  /** Also returns CSV. */
  readonly csv?: true;
}

const operations =
  (tag: keyof typeof TAGS) =>
  (id: string, summary: string, more: Pick<Operation, 'statuses' | 'csv'> = {}): Operation => ({
    id,
    tag,
    summary,
    ...more,
  });

const installation = operations('Installation');
const auth = operations('Authentication');
const session = operations('Sessions');
const org = operations('Organizations');
const member = operations('Members');
const token = operations('Management tokens');
const project = operations('Projects');
const agent = operations('Agents');
const key = operations('API keys');
const provider = operations('Providers');
const account = operations('Accounts');
const usage = operations('Usage');
const webhook = operations('Webhooks');
const event = operations('Events');
const audit = operations('Audit');

/** By method and pattern as declared. */
export const OPERATIONS: Readonly<Record<string, Operation>> = {
  'GET /v1/config': installation('getConfig', 'What a client must know before anybody has logged in'),
  'GET /v1/status': installation('getStatus', 'Health of the built-in providers, as the gateway sees them'),

  'POST /v1/auth/signup': auth('signUp', 'Make an account and its organization', { statuses: [403, 409, 429] }),
  'POST /v1/auth/login': auth('logIn', 'Log in with e-mail and password', { statuses: [401, 429] }),
  'POST /v1/auth/refresh': auth('refreshSession', 'A new token for the session', { statuses: [401, 403, 429] }),
  'POST /v1/auth/logout': auth('logOut', 'End the session of this call'),
  'POST /v1/auth/switch-org': auth('switchOrganization', 'A token for another organization', { statuses: [404, 429] }),
  'POST /v1/auth/forgot-password': auth('forgotPassword', 'Mail a link for a new password', { statuses: [429] }),
  'POST /v1/auth/reset-password': auth('resetPassword', 'Set a new password with the token of a mail', {
    statuses: [429],
  }),
  'POST /v1/auth/change-password': auth('changePassword', 'Replace the password; ends the other sessions'),
  'POST /v1/auth/verify-email': auth('verifyEmail', 'Confirm an address with the token of a mail', {
    statuses: [401, 429],
  }),
  'POST /v1/auth/resend-verification': auth('resendVerification', 'Mail the link that confirms an address again', {
    statuses: [429],
  }),
  'POST /v1/auth/device': auth('startDeviceLogin', 'Begin the login of a program', { statuses: [429] }),
  'POST /v1/auth/device/token': auth('pollDeviceLogin', 'Ask whether a person has let the program in', {
    statuses: [429],
  }),
  'POST /v1/auth/device/lookup': auth('lookUpDevice', 'Who asks to be let in, by the code that it shows', {
    statuses: [404],
  }),
  'POST /v1/auth/device/approve': auth('approveDevice', 'Let the program in'),
  'POST /v1/auth/device/deny': auth('denyDevice', 'Do not let the program in', { statuses: [404] }),

  'GET /v1/me': session('getMe', 'Who is logged in, where, with which role'),
  'PATCH /v1/me': session('updateMe', 'Change the name of the user'),
  'GET /v1/sessions': session('listSessions', 'Sessions of the user'),
  'DELETE /v1/sessions': session('endOtherSessions', 'End all sessions but this one'),
  'DELETE /v1/sessions/:id': session('endSession', 'End a session'),
  'POST /v1/session': session('openBrowserSession', 'Log a browser in: the session is a cookie', {
    statuses: [401, 403, 429],
  }),
  'PATCH /v1/session': session('switchBrowserSession', 'Go to another organization in this browser'),
  'DELETE /v1/session': session('closeBrowserSession', 'Log this browser out'),

  'POST /v1/orgs': org('createOrganization', 'Make another organization'),
  'GET /v1/orgs/:id': org('getOrganization', 'The organization, with its budget'),
  'PATCH /v1/orgs/:id': org('updateOrganization', 'Rename it, or set its budget'),
  'DELETE /v1/orgs/:id': org('deleteOrganization', 'Delete it, after seven days in which it can be restored', {
    statuses: [409, 429],
  }),
  'POST /v1/orgs/:id/restore': org('restoreOrganization', 'Restore it within seven days of its deletion', {
    statuses: [409],
  }),
  'GET /v1/deleted-orgs': org('listDeletedOrganizations', 'Who deleted or restored which organization'),
  'GET /v1/suspended-items': org('listSuspendedItems', 'What was made before the founder proved the mailbox'),
  'POST /v1/suspended-items/:id/keep': org('keepSuspendedItem', 'Let a suspended item work again', { statuses: [409] }),
  'DELETE /v1/suspended-items/:id': org('revokeSuspendedItem', 'Delete a suspended item for good'),

  'GET /v1/members': member('listMembers', 'Members and open invitations'),
  'POST /v1/members': member('inviteMember', 'Invite an address'),
  'POST /v1/members/:userId/resend': member('resendInvitation', 'Mail the invitation again'),
  'PATCH /v1/members/:userId': member('setMemberRole', 'Give a member another role'),
  'DELETE /v1/members/:userId': member('removeMember', 'Remove a member, or take an invitation back'),
  'DELETE /v1/members/me': member('leaveOrganization', 'Leave the organization'),
  'POST /v1/invitations/accept': member('acceptInvitation', 'Become a member with the token of a mail', {
    statuses: [401, 403, 409, 429],
  }),

  'GET /v1/management-tokens': token('listManagementTokens', 'Management tokens'),
  'POST /v1/management-tokens': token('createManagementToken', 'Make a management token; it is shown once'),
  'DELETE /v1/management-tokens/:id': token('deleteManagementToken', 'Delete a management token'),

  'GET /v1/projects': project('listProjects', 'Projects'),
  'POST /v1/projects': project('createProject', 'Make a project'),
  'GET /v1/projects/:id': project('getProject', 'A project'),
  'PATCH /v1/projects/:id': project('updateProject', 'Rename it, or set its budget'),
  'DELETE /v1/projects/:id': project('deleteProject', 'Delete an empty project'),

  'GET /v1/agents': agent('listAgents', 'Agents of a project'),
  'POST /v1/agents': agent('createAgent', 'Make an agent'),
  'GET /v1/agents/:id': agent('getAgent', 'An agent with its limits'),
  'PATCH /v1/agents/:id': agent('updateAgent', 'Change its name, limits, budget or policy'),
  'PATCH /v1/agents/:id/status': agent('setAgentStatus', 'Pause, resume or revoke it'),
  'DELETE /v1/agents/:id': agent('deleteAgent', 'Delete it with its keys and accounts'),

  'GET /v1/api-keys': key('listApiKeys', 'API keys'),
  'POST /v1/api-keys': key('createApiKey', 'Make an API key; the gateway token is shown once'),
  'PATCH /v1/api-keys/:id': key('updateApiKey', 'Rename it, or change when it ends'),
  'POST /v1/api-keys/:id/rotate': key('rotateApiKey', 'Replace it; the old one works on for a while'),
  'DELETE /v1/api-keys/:id': key('revokeApiKey', 'Revoke an API key at once'),

  'GET /v1/providers': provider('listProviders', 'Built-in providers'),
  'GET /v1/custom-providers': provider('listCustomProviders', 'All providers, with those of the organization'),
  'POST /v1/custom-providers': provider('createCustomProvider', 'Add a provider of the organization'),
  'PUT /v1/custom-providers/:id': provider('updateCustomProvider', 'Change some of its fields'),
  'DELETE /v1/custom-providers/:id': provider('deleteCustomProvider', 'Delete it with its accounts'),

  'GET /v1/credentials': account('listCredentials', 'Shared credentials'),
  'POST /v1/credentials': account('createCredential', 'Store a credential for the accounts of many agents'),
  'GET /v1/credentials/:id': account('getCredential', 'A shared credential, without its value'),
  'PATCH /v1/credentials/:id': account('renameCredential', 'Rename a shared credential'),
  'POST /v1/credentials/:id/rotate': account('rotateCredential', 'Replace it for all accounts that use it'),
  'POST /v1/credentials/:id/test': account('testCredential', 'Whether the provider takes the shared credential'),
  'DELETE /v1/credentials/:id': account('deleteCredential', 'Delete a shared credential that no account uses'),
  'GET /v1/providers/accounts': account('listAccounts', 'Accounts of an agent, a project or the organization'),
  'POST /v1/providers/accounts': account('createAccount', 'Give an agent credentials at a provider'),
  'PATCH /v1/providers/accounts/:id': account('updateAccount', 'Open or close its sensitive paths'),
  'POST /v1/providers/accounts/:id/rotate': account('rotateAccount', 'Replace its credentials'),
  'POST /v1/providers/accounts/test': account('testCredentials', 'Whether a provider takes these credentials', {
    statuses: [404],
  }),
  'POST /v1/providers/accounts/:id/test': account('testAccount', 'Whether the provider takes its credentials'),
  'DELETE /v1/providers/accounts/:id': account('deleteAccount', 'Delete an account'),

  'GET /v1/usage/summary': usage('getUsageSummary', 'Sums of the organization, a project or an agent'),
  'GET /v1/usage/timeseries': usage('getUsageTimeseries', 'The same over time'),
  'GET /v1/usage/breakdown': usage('getUsageBreakdown', 'The same by agent, provider, model and more'),
  'GET /v1/usage/refusals': usage('getRefusals', 'What the gateway refused, by reason'),
  'GET /v1/usage/export': usage('exportCalls', 'All calls of a scope as a file', { csv: true }),
  'GET /v1/usage/logs': usage('listCalls', 'Single calls of the organization, a project or an agent'),
  'GET /v1/usage/logs/:id': usage('getCall', 'A single call'),
  'GET /v1/usage/agents': usage('listAgentFigures', 'Agents of all projects with their figures'),
  'GET /v1/usage/agents/compare': usage('compareAgents', 'Sums of several agents side by side', { statuses: [404] }),
  'GET /v1/usage/agents/:agentId': usage('getAgentUsage', 'Sums of an agent by provider'),
  'GET /v1/usage/agents/:agentId/summary': usage('getAgentSummary', 'Sums and forecast of an agent'),
  'GET /v1/usage/agents/:agentId/timeseries': usage('getAgentTimeseries', 'Sums of an agent over time'),
  'GET /v1/usage/agents/:agentId/providers': usage('getAgentProviders', 'Latency and errors of an agent by provider'),
  'GET /v1/usage/agents/:agentId/logs': usage('listAgentCalls', 'Single calls of an agent'),
  'GET /v1/usage/agents/:agentId/export': usage('exportAgentCalls', 'All calls of an agent as a file', { csv: true }),

  'GET /v1/webhooks': webhook('listWebhooks', 'Endpoints'),
  'POST /v1/webhooks': webhook('createWebhook', 'Add an endpoint; its secret is shown once'),
  'GET /v1/webhooks/:id': webhook('getWebhook', 'An endpoint'),
  'PATCH /v1/webhooks/:id': webhook('updateWebhook', 'Change its address or events; pause it'),
  'DELETE /v1/webhooks/:id': webhook('deleteWebhook', 'Delete an endpoint with its deliveries'),
  'POST /v1/webhooks/:id/test': webhook('testWebhook', 'Send a sample'),
  'POST /v1/webhooks/:id/rotate': webhook(
    'rotateWebhookSecret',
    'Replace its secret; the old one signs on for a while',
  ),
  'POST /v1/webhooks/:id/replay': webhook('replayDeliveries', 'Send the deliveries of a time range again'),
  'GET /v1/webhooks/:endpointId/deliveries': webhook('listDeliveries', 'Deliveries to an endpoint'),
  'GET /v1/webhooks/deliveries/:deliveryId': webhook('getDelivery', 'A delivery with what it carries'),
  'POST /v1/webhooks/deliveries/:deliveryId/retry': webhook('retryDelivery', 'Send a failed delivery again'),

  'GET /v1/prices': provider('listPrices', 'What calls cost, and where each price comes from'),
  'GET /v1/circuits': provider('listCircuits', 'Circuits of the providers that the organization uses'),
  'PUT /v1/circuits': provider(
    'overrideCircuit',
    'Close the organization’s circuit, or hold it open for at most a day',
    { statuses: [404] },
  ),

  'GET /v1/attention': event(
    'listAttention',
    'What needs somebody now: budgets, credentials, keys, webhooks, circuits',
  ),
  'GET /v1/events': event('listEvents', 'What happened, newest first'),
  'GET /v1/event-mail': event('listEventMail', 'Which members get mail about which events'),
  'PUT /v1/event-mail/:userId': event('setEventMail', 'Choose the events that a member gets mail about'),

  'GET /v1/audit': audit('listAuditEntries', 'Who changed what, newest first'),
};

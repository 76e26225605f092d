/**
 * Name and summary of each operation, used by the API document and by generated clients: a unique name, its group, and
 * one line. `statuses` are those that do not follow from the route itself (error-statuses.ts).
 */
export const TAGS = {
  Installation: 'This installation and the health of its providers.',
  Authentication: 'Accounts, passwords and login, including device login for programs.',
  Sessions: 'The sessions of the user.',
  Organizations: 'Organizations are the tenants; all other resources belong to one.',
  Members: 'Members, roles and invitations of an organization.',
  'Management tokens': 'Tokens for programs that call this API: CI, scripts, configuration as code.',
  Projects: 'Groups of agents in an organization.',
  Agents: 'Agents call providers through the gateway, within their limits.',
  'API keys': 'Gateway tokens, which agents use instead of provider credentials.',
  Providers: 'Built-in providers and custom providers of the organization.',
  Accounts: 'Provider accounts: the credentials of agents for providers, own or shared.',
  Usage: 'Requests, tokens, cost, latency and rejections from the ledger.',
  Webhooks: 'Webhook endpoints, their deliveries and secrets.',
  Events: 'Events of an organization, and the members who get them by e-mail.',
  Audit: 'The audit trail: who changed what.',
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
  'GET /v1/config': installation('getConfig', 'Get the public configuration'),
  'GET /v1/status': installation('getStatus', 'Get the health of the built-in providers'),

  'POST /v1/auth/signup': auth('signUp', 'Create an account and its organization', { statuses: [403, 409, 429] }),
  'POST /v1/auth/login': auth('logIn', 'Log in with e-mail and password', { statuses: [401, 429] }),
  'POST /v1/auth/refresh': auth('refreshSession', 'Exchange a session token for a new one', {
    statuses: [401, 403, 429],
  }),
  'POST /v1/auth/logout': auth('logOut', 'Log out: revoke the session of this call'),
  'POST /v1/auth/switch-org': auth('switchOrganization', 'Get a token for another organization', {
    statuses: [404, 429],
  }),
  'POST /v1/auth/forgot-password': auth('forgotPassword', 'Mail a link to set a new password', { statuses: [429] }),
  'POST /v1/auth/reset-password': auth('resetPassword', 'Set a new password with the token from a mail', {
    statuses: [429],
  }),
  'POST /v1/auth/change-password': auth('changePassword', 'Change the password and revoke all other sessions'),
  'POST /v1/auth/verify-email': auth('verifyEmail', 'Confirm an e-mail address with the token from a mail', {
    statuses: [401, 429],
  }),
  'POST /v1/auth/resend-verification': auth('resendVerification', 'Resend the verification e-mail', {
    statuses: [429],
  }),
  'POST /v1/auth/device': auth('startDeviceLogin', 'Start a device login', { statuses: [429] }),
  'POST /v1/auth/device/token': auth('pollDeviceLogin', 'Poll a device login for its session', {
    statuses: [429],
  }),
  'POST /v1/auth/device/lookup': auth('lookUpDevice', 'Look up a device login by its user code', {
    statuses: [404],
  }),
  'POST /v1/auth/device/approve': auth('approveDevice', 'Approve a device login'),
  'POST /v1/auth/device/deny': auth('denyDevice', 'Deny a device login', { statuses: [404] }),

  'GET /v1/me': session('getMe', 'Get the current user or management token, with organization and role'),
  'PATCH /v1/me': session('updateMe', 'Change the user’s name'),
  'GET /v1/sessions': session('listSessions', 'List the user’s sessions'),
  'DELETE /v1/sessions': session('endOtherSessions', 'Revoke all other sessions'),
  'DELETE /v1/sessions/:id': session('endSession', 'Revoke a session'),
  'POST /v1/session': session('openBrowserSession', 'Open a browser session, which uses a cookie', {
    statuses: [401, 403, 429],
  }),
  'PATCH /v1/session': session('switchBrowserSession', 'Switch the browser session to another organization'),
  'DELETE /v1/session': session('closeBrowserSession', 'Close the browser session'),

  'POST /v1/orgs': org('createOrganization', 'Create an organization'),
  'GET /v1/orgs/:id': org('getOrganization', 'Get the organization with its budget'),
  'PATCH /v1/orgs/:id': org('updateOrganization', 'Rename the organization or set its budget'),
  'DELETE /v1/orgs/:id': org(
    'deleteOrganization',
    'Delete the organization after seven days, in which it can be restored',
    {
      statuses: [409, 429],
    },
  ),
  'POST /v1/orgs/:id/restore': org('restoreOrganization', 'Restore an organization within seven days of its deletion', {
    statuses: [409],
  }),
  'GET /v1/deleted-orgs': org('listDeletedOrganizations', 'List deletions of the user’s organizations'),
  'GET /v1/suspended-items': org(
    'listSuspendedItems',
    'List items that were suspended because they were created before the founder’s mailbox was proven',
  ),
  'POST /v1/suspended-items/:id/keep': org('keepSuspendedItem', 'Keep a suspended item: restore it', {
    statuses: [409],
  }),
  'DELETE /v1/suspended-items/:id': org('revokeSuspendedItem', 'Revoke a suspended item: delete it permanently'),

  'GET /v1/members': member('listMembers', 'List members and open invitations'),
  'POST /v1/members': member('inviteMember', 'Invite a member by e-mail'),
  'POST /v1/members/:userId/resend': member('resendInvitation', 'Resend an invitation'),
  'PATCH /v1/members/:userId': member('setMemberRole', 'Change the role of a member'),
  'DELETE /v1/members/:userId': member('removeMember', 'Remove a member or revoke an invitation'),
  'DELETE /v1/members/me': member('leaveOrganization', 'Leave the organization'),
  'POST /v1/invitations/accept': member('acceptInvitation', 'Accept an invitation with the token from a mail', {
    statuses: [401, 403, 409, 429],
  }),

  'GET /v1/management-tokens': token('listManagementTokens', 'List management tokens'),
  'POST /v1/management-tokens': token(
    'createManagementToken',
    'Create a management token, which is returned only once',
  ),
  'DELETE /v1/management-tokens/:id': token('deleteManagementToken', 'Delete a management token'),

  'GET /v1/projects': project('listProjects', 'List projects'),
  'POST /v1/projects': project('createProject', 'Create a project'),
  'GET /v1/projects/:id': project('getProject', 'Get a project'),
  'PATCH /v1/projects/:id': project('updateProject', 'Rename a project or set its budget'),
  'DELETE /v1/projects/:id': project('deleteProject', 'Delete an empty project'),

  'GET /v1/agents': agent('listAgents', 'List the agents of a project'),
  'POST /v1/agents': agent('createAgent', 'Create an agent'),
  'GET /v1/agents/:id': agent('getAgent', 'Get an agent with its limits'),
  'PATCH /v1/agents/:id': agent('updateAgent', 'Change the name, limits, budget or policy of an agent'),
  'PATCH /v1/agents/:id/status': agent('setAgentStatus', 'Pause, resume or revoke an agent'),
  'DELETE /v1/agents/:id': agent('deleteAgent', 'Delete an agent with its keys and provider accounts'),

  'GET /v1/api-keys': key('listApiKeys', 'List API keys'),
  'POST /v1/api-keys': key('createApiKey', 'Create an API key; its gateway token is returned only once'),
  'PATCH /v1/api-keys/:id': key('updateApiKey', 'Rename an API key or change its expiry'),
  'POST /v1/api-keys/:id/rotate': key('rotateApiKey', 'Rotate an API key; the old one stays valid for a grace period'),
  'DELETE /v1/api-keys/:id': key('revokeApiKey', 'Revoke an API key'),

  'GET /v1/providers': provider('listProviders', 'Built-in providers'),
  'GET /v1/custom-providers': provider('listCustomProviders', 'All providers, with those of the organization'),
  'POST /v1/custom-providers': provider('createCustomProvider', 'Add a provider of the organization'),
  'PUT /v1/custom-providers/:id': provider('updateCustomProvider', 'Update a custom provider'),
  'DELETE /v1/custom-providers/:id': provider('deleteCustomProvider', 'Delete a custom provider with its accounts'),

  'GET /v1/credentials': account('listCredentials', 'List shared credentials'),
  'POST /v1/credentials': account(
    'createCredential',
    'Create a credential that the provider accounts of many agents share',
  ),
  'GET /v1/credentials/:id': account('getCredential', 'Get a shared credential without its value'),
  'PATCH /v1/credentials/:id': account('renameCredential', 'Rename a shared credential'),
  'POST /v1/credentials/:id/rotate': account(
    'rotateCredential',
    'Rotate a shared credential for all accounts that use it',
  ),
  'POST /v1/credentials/:id/test': account('testCredential', 'Test whether the provider accepts a shared credential'),
  'DELETE /v1/credentials/:id': account('deleteCredential', 'Delete a shared credential that no account uses'),
  'GET /v1/providers/accounts': account(
    'listAccounts',
    'List the provider accounts of an agent, a project or the organization',
  ),
  'POST /v1/providers/accounts': account('createAccount', 'Create a provider account for an agent'),
  'PATCH /v1/providers/accounts/:id': account(
    'updateAccount',
    'Allow or forbid sensitive paths for a provider account',
  ),
  'POST /v1/providers/accounts/:id/rotate': account('rotateAccount', 'Rotate the credentials of a provider account'),
  'POST /v1/providers/accounts/test': account(
    'testCredentials',
    'Test whether a provider accepts credentials, without storing them',
    {
      statuses: [404],
    },
  ),
  'POST /v1/providers/accounts/:id/test': account(
    'testAccount',
    'Test whether the provider accepts the credentials of an account',
  ),
  'DELETE /v1/providers/accounts/:id': account('deleteAccount', 'Delete a provider account'),

  'GET /v1/usage/summary': usage('getUsageSummary', 'Get usage totals of the organization, a project or an agent'),
  'GET /v1/usage/timeseries': usage('getUsageTimeseries', 'Get usage over time'),
  'GET /v1/usage/breakdown': usage('getUsageBreakdown', 'Get usage by agent, provider, model and other dimensions'),
  'GET /v1/usage/refusals': usage('getRefusals', 'Count rejected requests by reason'),
  'GET /v1/usage/export': usage('exportCalls', 'Export all calls of a scope as a file', { csv: true }),
  'GET /v1/usage/logs': usage('listCalls', 'List calls of the organization, a project or an agent'),
  'GET /v1/usage/logs/:id': usage('getCall', 'Get a call'),
  'GET /v1/usage/agents': usage('listAgentFigures', 'List agents of all projects with their usage'),
  'GET /v1/usage/agents/compare': usage('compareAgents', 'Compare the usage of several agents', { statuses: [404] }),
  'GET /v1/usage/agents/:agentId': usage('getAgentUsage', 'Get usage totals of an agent by provider'),
  'GET /v1/usage/agents/:agentId/summary': usage('getAgentSummary', 'Get usage totals and forecast of an agent'),
  'GET /v1/usage/agents/:agentId/timeseries': usage('getAgentTimeseries', 'Get usage of an agent over time'),
  'GET /v1/usage/agents/:agentId/providers': usage(
    'getAgentProviders',
    'Get latency and errors of an agent by provider',
  ),
  'GET /v1/usage/agents/:agentId/logs': usage('listAgentCalls', 'List calls of an agent'),
  'GET /v1/usage/agents/:agentId/export': usage('exportAgentCalls', 'Export all calls of an agent as a file', {
    csv: true,
  }),

  'GET /v1/webhooks': webhook('listWebhooks', 'List webhook endpoints'),
  'POST /v1/webhooks': webhook('createWebhook', 'Create a webhook endpoint; the secret is returned once'),
  'GET /v1/webhooks/:id': webhook('getWebhook', 'Get a webhook endpoint'),
  'PATCH /v1/webhooks/:id': webhook('updateWebhook', 'Update a webhook endpoint, or pause it'),
  'DELETE /v1/webhooks/:id': webhook('deleteWebhook', 'Delete a webhook endpoint with its deliveries'),
  'POST /v1/webhooks/:id/test': webhook('testWebhook', 'Send a sample event to a webhook endpoint'),
  'POST /v1/webhooks/:id/rotate': webhook(
    'rotateWebhookSecret',
    'Rotate the signing secret; both secrets sign during the overlap',
  ),
  'POST /v1/webhooks/:id/replay': webhook('replayDeliveries', 'Replay the deliveries of a time range'),
  'GET /v1/webhooks/:endpointId/deliveries': webhook('listDeliveries', 'List the deliveries of a webhook endpoint'),
  'GET /v1/webhooks/deliveries/:deliveryId': webhook('getDelivery', 'Get a delivery with its payload'),
  'POST /v1/webhooks/deliveries/:deliveryId/retry': webhook('retryDelivery', 'Retry a failed delivery'),

  'GET /v1/prices': provider('listPrices', 'List prices and their sources'),
  'GET /v1/circuits': provider('listCircuits', 'List the circuit breakers of the organization’s providers'),
  'PUT /v1/circuits': provider(
    'overrideCircuit',
    'Close a circuit breaker of the organization, or hold it open for at most a day',
    { statuses: [404] },
  ),

  'GET /v1/attention': event('listAttention', 'List what needs action: budgets, credentials, keys, webhooks, circuits'),
  'GET /v1/events': event('listEvents', 'List events, newest first'),
  'GET /v1/events/types': event('listEventTypes', 'List the types of events with their texts and samples'),
  'GET /v1/event-mail': event('listEventMail', 'List which members get which events by e-mail'),
  'PUT /v1/event-mail/:userId': event('setEventMail', 'Set the events that a member gets by e-mail'),

  'GET /v1/audit': audit('listAuditEntries', 'List the entries of the audit trail, newest first'),
};

/** Lists every command group with its summary, its heading in the help and the file that defines it. */
import type { RegisterCommands } from '../invocation/program-interface-for-commands.js';

interface CommandGroup {
  readonly summary: string;
  /** Heading in `acg --help`; null leaves the group out. */
  readonly topic: string | null;
  readonly load: () => Promise<RegisterCommands>;
}

export const COMMAND_GROUPS: Readonly<Record<string, CommandGroup>> = {
  signup: {
    topic: 'Get started',
    summary: 'sign up and create an organization',
    load: async () => (await import('./session/login-and-signup.js')).registerSignupCommand,
  },
  login: {
    topic: 'Get started',
    summary: 'log in and save the session',
    load: async () => (await import('./session/login-and-signup.js')).registerLoginCommand,
  },
  logout: {
    topic: 'Get started',
    summary: 'log out and revoke the session',
    load: async () => (await import('./session/whoami-and-logout.js')).registerLogoutCommand,
  },
  whoami: {
    topic: 'Get started',
    summary: 'show the logged-in user and organization',
    load: async () => (await import('./session/whoami-and-logout.js')).registerWhoamiCommand,
  },
  use: {
    topic: 'Get started',
    summary: 'list saved profiles or switch to one',
    load: async () => (await import('./session/use-profile.js')).registerUseCommand,
  },
  org: {
    topic: 'Get started',
    summary: 'manage organizations',
    load: async () => (await import('./session/org.js')).registerOrgCommands,
  },
  sessions: {
    topic: 'Get started',
    summary: 'list and revoke sessions of this user',
    load: async () => (await import('./session/sessions.js')).registerSessionCommands,
  },
  init: {
    topic: 'Get started',
    summary: 'select or create the agent of this directory',
    load: async () => (await import('./run/init-agent-of-directory.js')).registerInitCommand,
  },
  run: {
    topic: 'Run programs',
    summary: 'run a program through the gateway',
    load: async () => (await import('./run/run.js')).registerRunCommand,
  },
  env: {
    topic: 'Run programs',
    summary: 'print the variables that run sets',
    load: async () => (await import('./run/env.js')).registerEnvCommand,
  },
  mcp: {
    topic: 'Run programs',
    summary: 'configure MCP clients',
    load: async () => (await import('./run/mcp-config.js')).registerMcpCommands,
  },
  agents: {
    topic: 'Agents and credentials',
    summary: 'manage agents',
    load: async () => (await import('./resources/agents.js')).registerAgentCommands,
  },
  budgets: {
    topic: 'Agents and credentials',
    summary: 'manage budgets per day, week, month and in total',
    load: async () => (await import('./resources/budgets.js')).registerBudgetCommands,
  },
  limits: {
    topic: 'Agents and credentials',
    summary: 'replay recorded calls against other limits',
    load: async () => (await import('./reports/limits.js')).registerLimitCommands,
  },
  policy: {
    topic: 'Agents and credentials',
    summary: 'test what a policy allows',
    load: async () => (await import('./resources/policy.js')).registerPolicyCommands,
  },
  keys: {
    topic: 'Agents and credentials',
    summary: 'manage gateway tokens',
    load: async () => (await import('./resources/keys.js')).registerKeyCommands,
  },
  runs: {
    topic: 'Agents and credentials',
    summary: 'manage runs: tasks with a budget and an end',
    load: async () => (await import('./resources/runs.js')).registerRunsCommands,
  },
  'trust-rules': {
    topic: 'Agents and credentials',
    summary: 'let CI jobs and pods get gateway tokens without a secret',
    load: async () => (await import('./resources/trust-rules.js')).registerTrustRuleCommands,
  },
  issuer: {
    topic: 'Agents and credentials',
    summary: 'let providers trust the gateway, for accounts without a secret',
    load: async () => (await import('./resources/issuer.js')).registerIssuerCommands,
  },
  accounts: {
    topic: 'Agents and credentials',
    summary: 'manage the provider credentials of agents',
    load: async () => (await import('./resources/provider-accounts.js')).registerAccountCommands,
  },
  credentials: {
    topic: 'Agents and credentials',
    summary: 'manage credentials shared by agents',
    load: async () => (await import('./resources/shared-credentials.js')).registerCredentialCommands,
  },
  providers: {
    topic: 'Agents and credentials',
    summary: 'list built-in providers and test a credential',
    load: async () => (await import('./resources/providers.js')).registerProviderCommands,
  },
  'custom-providers': {
    topic: 'Agents and credentials',
    summary: 'manage custom providers',
    load: async () => (await import('./resources/custom-providers.js')).registerCustomProviderCommands,
  },
  projects: {
    topic: 'Agents and credentials',
    summary: 'manage projects',
    load: async () => (await import('./resources/projects.js')).registerProjectCommands,
  },
  'personal-agents': {
    topic: 'Agents and credentials',
    summary: 'your personal agents, in projects that allow them',
    load: async () => (await import('./resources/personal-agents.js')).registerPersonalAgentCommands,
  },
  members: {
    topic: 'Organization',
    summary: 'manage members and invitations',
    load: async () => (await import('./resources/members.js')).registerMemberCommands,
  },
  tokens: {
    topic: 'Organization',
    summary: 'manage management tokens for programs',
    load: async () => (await import('./resources/management-tokens.js')).registerTokenCommands,
  },
  sso: {
    topic: 'Organization',
    summary: 'manage single sign-on and its domains',
    load: async () => (await import('./resources/sso.js')).registerSsoCommands,
  },
  scim: {
    topic: 'Organization',
    summary: 'manage SCIM tokens of the directory',
    load: async () => (await import('./resources/scim.js')).registerScimCommands,
  },
  suspended: {
    topic: 'Organization',
    summary: 'review resources created before the e-mail address was verified',
    load: async () => (await import('./resources/suspended-items-created-unverified.js')).registerSuspendedCommands,
  },
  bill: {
    topic: 'Observe',
    summary: 'compare the ledger with the bills of providers',
    load: async () => (await import('./resources/billing.js')).registerBillCommands,
  },
  archive: {
    topic: 'Observe',
    summary: 'list and verify the archive of the ledger',
    load: async () => (await import('./reports/archive.js')).registerArchiveCommands,
  },
  logs: {
    topic: 'Observe',
    summary: 'search calls; -f follows new ones',
    load: async () => (await import('./reports/logs.js')).registerLogCommand,
  },
  call: {
    topic: 'Observe',
    summary: 'show the full record of one call',
    load: async () => (await import('./reports/call.js')).registerCallCommand,
  },
  usage: {
    topic: 'Observe',
    summary: 'report calls and costs',
    load: async () => (await import('./reports/usage.js')).registerUsageCommands,
  },
  top: {
    topic: 'Observe',
    summary: 'watch the busiest agents',
    load: async () => (await import('./reports/top.js')).registerTopCommand,
  },
  attention: {
    topic: 'Observe',
    summary: 'list what needs attention',
    load: async () => (await import('./reports/attention.js')).registerAttentionCommand,
  },
  alerts: {
    topic: 'Observe',
    summary: 'list, acknowledge and silence alerts',
    load: async () => (await import('./resources/alerts.js')).registerAlertCommands,
  },
  'alert-rules': {
    topic: 'Observe',
    summary: 'manage rules on error rate, latency and spend',
    load: async () => (await import('./resources/alert-rules.js')).registerAlertRuleCommands,
  },
  events: {
    topic: 'Observe',
    summary: 'list events or their types; -f follows new ones',
    load: async () => (await import('./reports/events.js')).registerEventCommand,
  },
  audit: {
    topic: 'Observe',
    summary: 'list the audit trail',
    load: async () => (await import('./reports/audit.js')).registerAuditCommand,
  },
  circuits: {
    topic: 'Observe',
    summary: 'list circuit breakers; close or hold one open',
    load: async () => (await import('./resources/circuits.js')).registerCircuitCommand,
  },
  prices: {
    topic: 'Observe',
    summary: 'list prices and their sources',
    load: async () => (await import('./reports/prices.js')).registerPriceCommand,
  },
  webhooks: {
    topic: 'Events',
    summary: 'manage webhook endpoints and deliveries',
    load: async () => (await import('./resources/webhooks.js')).registerWebhookCommands,
  },
  listen: {
    topic: 'Events',
    summary: 'send events to a URL of this machine',
    load: async () => (await import('./resources/listen.js')).registerListenCommand,
  },
  'event-mail': {
    topic: 'Events',
    summary: 'manage e-mail notifications about events',
    load: async () => (await import('./resources/event-mail.js')).registerEventMailCommands,
  },
  apply: {
    topic: 'Configuration as a file',
    summary: 'apply a configuration file to the organization',
    load: async () => (await import('./apply-and-export.js')).registerApplyCommand,
  },
  export: {
    topic: 'Configuration as a file',
    summary: 'write the organization as a configuration file',
    load: async () => (await import('./apply-and-export.js')).registerExportCommand,
  },
  status: {
    topic: 'Tools',
    summary: 'check the gateway, the session and the providers',
    load: async () => (await import('./gateway-session-and-provider-status.js')).registerStatusCommand,
  },
  doctor: {
    topic: 'Tools',
    summary: 'diagnose problems and print fixes',
    load: async () => (await import('./doctor.js')).registerDoctorCommand,
  },
  open: {
    topic: 'Tools',
    summary: 'open the dashboard',
    load: async () => (await import('./open.js')).registerOpenCommand,
  },
  api: {
    topic: 'Tools',
    summary: 'call the management API directly',
    load: async () => (await import('./api.js')).registerApiCommand,
  },
  completion: {
    topic: 'Tools',
    summary: 'print a shell completion script',
    load: async () => (await import('./completion.js')).registerCompletionCommand,
  },
  version: {
    topic: 'Tools',
    summary: 'print the versions of acg and the gateway',
    load: async () => (await import('./version.js')).registerVersionCommand,
  },
  complete: {
    topic: null,
    summary: 'complete a command line (called by the scripts)',
    load: async () => (await import('./completion.js')).registerCompleteCommand,
  },
};

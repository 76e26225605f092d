/** Lists every command group with its summary and the file that defines it. */
import type { RegisterCommands } from '../invocation/program-interface-for-commands.js';

interface CommandGroup {
  readonly summary: string;
  readonly hidden?: true;
  readonly load: () => Promise<RegisterCommands>;
}

export const COMMAND_GROUPS: Readonly<Record<string, CommandGroup>> = {
  signup: {
    summary: 'sign up and create an organization',
    load: async () => (await import('./session/login-and-signup.js')).registerSignupCommand,
  },
  login: {
    summary: 'log in and save the session',
    load: async () => (await import('./session/login-and-signup.js')).registerLoginCommand,
  },
  logout: {
    summary: 'log out and revoke the session',
    load: async () => (await import('./session/whoami-and-logout.js')).registerLogoutCommand,
  },
  whoami: {
    summary: 'show the logged-in user and organization',
    load: async () => (await import('./session/whoami-and-logout.js')).registerWhoamiCommand,
  },
  use: {
    summary: 'list saved profiles or switch to one',
    load: async () => (await import('./session/use-profile.js')).registerUseCommand,
  },
  init: {
    summary: 'select or create the agent of this directory',
    load: async () => (await import('./run/init-agent-of-directory.js')).registerInitCommand,
  },
  run: {
    summary: 'run a program through the gateway',
    load: async () => (await import('./run/run.js')).registerRunCommand,
  },
  env: {
    summary: 'print the variables that run sets',
    load: async () => (await import('./run/env.js')).registerEnvCommand,
  },
  agents: { summary: 'manage agents', load: async () => (await import('./resources/agents.js')).registerAgentCommands },
  keys: {
    summary: 'manage gateway tokens',
    load: async () => (await import('./resources/keys.js')).registerKeyCommands,
  },
  providers: {
    summary: 'list built-in providers',
    load: async () => (await import('./resources/providers.js')).registerProviderCommands,
  },
  accounts: {
    summary: 'manage the provider credentials of agents',
    load: async () => (await import('./resources/provider-accounts.js')).registerAccountCommands,
  },
  credentials: {
    summary: 'manage credentials shared by agents',
    load: async () => (await import('./resources/shared-credentials.js')).registerCredentialCommands,
  },
  'custom-providers': {
    summary: 'manage custom providers',
    load: async () => (await import('./resources/custom-providers.js')).registerCustomProviderCommands,
  },
  projects: {
    summary: 'manage projects',
    load: async () => (await import('./resources/projects.js')).registerProjectCommands,
  },
  members: {
    summary: 'manage members and invitations',
    load: async () => (await import('./resources/members.js')).registerMemberCommands,
  },
  suspended: {
    summary: 'review resources created before the e-mail address was verified',
    load: async () => (await import('./resources/suspended-items-created-unverified.js')).registerSuspendedCommands,
  },
  tokens: {
    summary: 'manage management tokens for programs',
    load: async () => (await import('./resources/management-tokens.js')).registerTokenCommands,
  },
  usage: {
    summary: 'report calls and costs',
    load: async () => (await import('./reports/usage.js')).registerUsageCommands,
  },
  bill: {
    summary: 'compare the ledger with the bills of providers',
    load: async () => (await import('./resources/billing.js')).registerBillCommands,
  },
  archive: {
    summary: 'list and verify the archive of the ledger',
    load: async () => (await import('./reports/archive.js')).registerArchiveCommands,
  },
  logs: {
    summary: 'search calls; -f follows new ones',
    load: async () => (await import('./reports/logs.js')).registerLogCommand,
  },
  call: {
    summary: 'show the full record of one call',
    load: async () => (await import('./reports/call.js')).registerCallCommand,
  },
  webhooks: {
    summary: 'manage webhook endpoints and deliveries',
    load: async () => (await import('./resources/webhooks.js')).registerWebhookCommands,
  },
  events: {
    summary: 'list events or their types; -f follows new ones',
    load: async () => (await import('./reports/events.js')).registerEventCommand,
  },
  'event-mail': {
    summary: 'manage e-mail notifications about events',
    load: async () => (await import('./resources/event-mail.js')).registerEventMailCommands,
  },
  attention: {
    summary: 'list what needs attention',
    load: async () => (await import('./reports/attention.js')).registerAttentionCommand,
  },
  circuits: {
    summary: 'list circuit breakers; close or hold one open',
    load: async () => (await import('./resources/circuits.js')).registerCircuitCommand,
  },
  prices: {
    summary: 'list prices and their sources',
    load: async () => (await import('./reports/prices.js')).registerPriceCommand,
  },
  audit: {
    summary: 'list the audit trail',
    load: async () => (await import('./reports/audit.js')).registerAuditCommand,
  },
  top: {
    summary: 'watch the busiest agents',
    load: async () => (await import('./reports/top.js')).registerTopCommand,
  },
  status: {
    summary: 'check the gateway, the session and the providers',
    load: async () => (await import('./gateway-session-and-provider-status.js')).registerStatusCommand,
  },
  doctor: {
    summary: 'diagnose problems and print fixes',
    load: async () => (await import('./doctor.js')).registerDoctorCommand,
  },
  open: { summary: 'open the dashboard', load: async () => (await import('./open.js')).registerOpenCommand },
  completion: {
    summary: 'print a shell completion script',
    load: async () => (await import('./completion.js')).registerCompletionCommand,
  },
  complete: {
    summary: 'complete a command line (called by the scripts)',
    hidden: true,
    load: async () => (await import('./completion.js')).registerCompleteCommand,
  },
  apply: {
    summary: 'apply a configuration file to the organization',
    load: async () => (await import('./apply-and-export.js')).registerApplyCommand,
  },
  export: {
    summary: 'write the organization as a configuration file',
    load: async () => (await import('./apply-and-export.js')).registerExportCommand,
  },
  api: { summary: 'call the management API directly', load: async () => (await import('./api.js')).registerApiCommand },
  version: {
    summary: 'print the versions of acg and the gateway',
    load: async () => (await import('./version.js')).registerVersionCommand,
  },
  sessions: {
    summary: 'list and revoke sessions of this user',
    load: async () => (await import('./session/sessions.js')).registerSessionCommands,
  },
  org: {
    summary: 'manage organizations',
    load: async () => (await import('./session/org.js')).registerOrgCommands,
  },
};

/** Every group of commands: its line in the help, and the file that has the rest. */
import type { RegisterCommands } from '../invocation/command-context.js';

interface CommandGroup {
  readonly summary: string;
  readonly hidden?: true;
  readonly load: () => Promise<RegisterCommands>;
}

export const COMMAND_GROUPS: Readonly<Record<string, CommandGroup>> = {
  signup: {
    summary: 'make an account and an organization',
    load: async () => (await import('./session/login.js')).registerSignupCommand,
  },
  login: {
    summary: 'log in, and remember it',
    load: async () => (await import('./session/login.js')).registerLoginCommand,
  },
  logout: {
    summary: 'end the session, on the server, too',
    load: async () => (await import('./session/whoami.js')).registerLogoutCommand,
  },
  whoami: {
    summary: 'who is logged in, and where',
    load: async () => (await import('./session/whoami.js')).registerWhoamiCommand,
  },
  use: {
    summary: 'list the saved logins, or go over to one',
    load: async () => (await import('./session/use.js')).registerUseCommand,
  },
  init: {
    summary: 'say which agent is meant in this directory',
    load: async () => (await import('./run/init.js')).registerInitCommand,
  },
  run: { summary: 'run a program on the gateway', load: async () => (await import('./run/run.js')).registerRunCommand },
  env: { summary: 'print the variables of run', load: async () => (await import('./run/env.js')).registerEnvCommand },
  agents: { summary: 'agents', load: async () => (await import('./resources/agents.js')).registerAgentCommands },
  keys: { summary: 'gateway tokens', load: async () => (await import('./resources/keys.js')).registerKeyCommands },
  providers: {
    summary: 'built-in providers',
    load: async () => (await import('./resources/providers.js')).registerProviderCommands,
  },
  accounts: {
    summary: 'provider credentials of agents',
    load: async () => (await import('./resources/accounts.js')).registerAccountCommands,
  },
  credentials: {
    summary: 'one key for many agents',
    load: async () => (await import('./resources/credentials.js')).registerCredentialCommands,
  },
  'custom-providers': {
    summary: 'providers of your own',
    load: async () => (await import('./resources/custom-providers.js')).registerCustomProviderCommands,
  },
  projects: {
    summary: 'projects',
    load: async () => (await import('./resources/projects.js')).registerProjectCommands,
  },
  members: { summary: 'people', load: async () => (await import('./resources/members.js')).registerMemberCommands },
  suspended: {
    summary: 'what was made before the account was confirmed',
    load: async () => (await import('./resources/suspended.js')).registerSuspendedCommands,
  },
  tokens: {
    summary: 'management tokens, for programs',
    load: async () => (await import('./resources/tokens.js')).registerTokenCommands,
  },
  usage: {
    summary: 'what was called and what it cost',
    load: async () => (await import('./reports/usage.js')).registerUsageCommands,
  },
  logs: {
    summary: 'calls, as they come with -f',
    load: async () => (await import('./reports/logs.js')).registerLogCommand,
  },
  call: {
    summary: 'one call, with all that is known of it',
    load: async () => (await import('./reports/call.js')).registerCallCommand,
  },
  webhooks: {
    summary: 'where events are sent',
    load: async () => (await import('./resources/webhooks.js')).registerWebhookCommands,
  },
  events: {
    summary: 'what webhooks are told',
    load: async () => (await import('./reports/events.js')).registerEventCommand,
  },
  'event-mail': {
    summary: 'who gets mail about which events',
    load: async () => (await import('./resources/event-mail.js')).registerEventMailCommands,
  },
  attention: {
    summary: 'what needs somebody',
    load: async () => (await import('./reports/attention.js')).registerAttentionCommand,
  },
  circuits: {
    summary: 'which providers are refused because they fail; close or hold open',
    load: async () => (await import('./resources/circuits.js')).registerCircuitCommand,
  },
  prices: {
    summary: 'what calls cost, and where each price comes from',
    load: async () => (await import('./reports/prices.js')).registerPriceCommand,
  },
  audit: {
    summary: 'who has changed what',
    load: async () => (await import('./reports/audit.js')).registerAuditCommand,
  },
  top: {
    summary: 'the busiest agents, again and again',
    load: async () => (await import('./reports/top.js')).registerTopCommand,
  },
  status: { summary: 'does it work?', load: async () => (await import('./status.js')).registerStatusCommand },
  doctor: { summary: 'why does it not work?', load: async () => (await import('./doctor.js')).registerDoctorCommand },
  open: { summary: 'open the dashboard', load: async () => (await import('./open.js')).registerOpenCommand },
  completion: {
    summary: 'the completions of a shell',
    load: async () => (await import('./completion.js')).registerCompletionCommand,
  },
  complete: {
    summary: 'for them',
    hidden: true,
    load: async () => (await import('./completion.js')).registerCompleteCommand,
  },
  apply: {
    summary: 'make the organization as a file says',
    load: async () => (await import('./apply.js')).registerApplyCommand,
  },
  export: { summary: 'write that file', load: async () => (await import('./apply.js')).registerExportCommand },
  api: { summary: 'any call of the management API', load: async () => (await import('./api.js')).registerApiCommand },
  version: {
    summary: 'of this program and of the gateway',
    load: async () => (await import('./version.js')).registerVersionCommand,
  },
  sessions: {
    summary: 'where this user is logged in',
    load: async () => (await import('./session/sessions.js')).registerSessionCommands,
  },
  org: {
    summary: 'the organizations of this login',
    load: async () => (await import('./session/org.js')).registerOrgCommands,
  },
};

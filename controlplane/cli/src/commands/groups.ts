/** Every group of commands: its line in the help, and the file that has the rest. */
import type { Build } from './tree.js';

interface Group {
  readonly summary: string;
  readonly hidden?: true;
  readonly load: () => Promise<Build>;
}

export const GROUPS: Readonly<Record<string, Group>> = {
  signup: {
    summary: 'make an account and an organization',
    load: async () => (await import('./login.js')).signupCommand,
  },
  login: { summary: 'log in, and remember it', load: async () => (await import('./login.js')).loginCommand },
  logout: {
    summary: 'end the session, on the server, too',
    load: async () => (await import('./identity.js')).logoutCommand,
  },
  whoami: { summary: 'who is logged in, and where', load: async () => (await import('./identity.js')).whoamiCommand },
  use: { summary: 'list the saved logins, or go over to one', load: async () => (await import('./use.js')).useCommand },
  init: {
    summary: 'say which agent is meant in this directory',
    load: async () => (await import('./init.js')).initCommand,
  },
  run: { summary: 'run a program on the gateway', load: async () => (await import('./run.js')).runCommand },
  env: { summary: 'print the variables of run', load: async () => (await import('./env.js')).envCommand },
  agents: { summary: 'agents', load: async () => (await import('./agents.js')).agentCommands },
  keys: { summary: 'gateway tokens', load: async () => (await import('./keys.js')).keyCommands },
  providers: { summary: 'built-in providers', load: async () => (await import('./providers.js')).providerCommands },
  accounts: {
    summary: 'provider credentials of agents',
    load: async () => (await import('./accounts.js')).accountCommands,
  },
  credentials: {
    summary: 'one key for many agents',
    load: async () => (await import('./credentials.js')).credentialCommands,
  },
  'custom-providers': {
    summary: 'providers of your own',
    load: async () => (await import('./custom-providers.js')).customProviderCommands,
  },
  projects: { summary: 'projects', load: async () => (await import('./projects.js')).projectCommands },
  members: { summary: 'people', load: async () => (await import('./members.js')).memberCommands },
  suspended: {
    summary: 'what was made before the account was confirmed',
    load: async () => (await import('./suspended.js')).suspendedCommands,
  },
  tokens: { summary: 'management tokens, for programs', load: async () => (await import('./tokens.js')).tokenCommands },
  usage: { summary: 'what was called and what it cost', load: async () => (await import('./usage.js')).usageCommands },
  logs: { summary: 'calls, as they come with -f', load: async () => (await import('./logs.js')).logCommand },
  call: {
    summary: 'one call, with all that is known of it',
    load: async () => (await import('./call.js')).callCommand,
  },
  webhooks: { summary: 'where events are sent', load: async () => (await import('./webhooks.js')).webhookCommands },
  events: { summary: 'what webhooks are told', load: async () => (await import('./events.js')).eventCommand },
  'event-mail': {
    summary: 'who gets mail about which events',
    load: async () => (await import('./event-mail.js')).eventMailCommands,
  },
  attention: {
    summary: 'what needs somebody',
    load: async () => (await import('./attention.js')).attentionCommand,
  },
  circuits: {
    summary: 'which providers are refused because they fail; close or hold open',
    load: async () => (await import('./circuits.js')).circuitCommand,
  },
  prices: {
    summary: 'what calls cost, and where each price comes from',
    load: async () => (await import('./prices.js')).priceCommand,
  },
  audit: { summary: 'who has changed what', load: async () => (await import('./audit.js')).auditCommand },
  top: { summary: 'the busiest agents, again and again', load: async () => (await import('./top.js')).topCommand },
  status: { summary: 'does it work?', load: async () => (await import('./status.js')).statusCommand },
  doctor: { summary: 'why does it not work?', load: async () => (await import('./doctor.js')).doctorCommand },
  open: { summary: 'open the dashboard', load: async () => (await import('./open.js')).openCommand },
  completion: {
    summary: 'the completions of a shell',
    load: async () => (await import('./completion.js')).completionCommand,
  },
  complete: { summary: 'for them', hidden: true, load: async () => (await import('./completion.js')).completeCommand },
  apply: {
    summary: 'make the organization as a file says',
    load: async () => (await import('./apply.js')).applyCommand,
  },
  export: { summary: 'write that file', load: async () => (await import('./apply.js')).exportCommand },
  api: { summary: 'any call of the management API', load: async () => (await import('./api.js')).apiCommand },
  version: {
    summary: 'of this program and of the gateway',
    load: async () => (await import('./version.js')).versionCommand,
  },
  sessions: {
    summary: 'where this user is logged in',
    load: async () => (await import('./sessions.js')).sessionCommands,
  },
  org: { summary: 'the organizations of this login', load: async () => (await import('./org.js')).orgCommands },
};

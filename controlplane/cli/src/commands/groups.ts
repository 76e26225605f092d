/** Every group of commands: its line in the help, and the file that has the rest. */
import type { Build } from '../tree.js';

interface Group {
  readonly summary: string;
  readonly hidden?: true;
  readonly load: () => Promise<Build>;
}

export const GROUPS: Readonly<Record<string, Group>> = {
  login: { summary: 'log in, and remember it', load: async () => (await import('./login.js')).loginCommand },
  logout: {
    summary: 'end the session, on the server, too',
    load: async () => (await import('./identity.js')).logoutCommand,
  },
  whoami: { summary: 'who is logged in, and where', load: async () => (await import('./identity.js')).whoamiCommand },
  use: { summary: 'list the saved logins, or go over to one', load: async () => (await import('./use.js')).useCommand },
  run: { summary: 'run a program on the gateway', load: async () => (await import('./run.js')).runCommand },
  env: { summary: 'print the variables of run', load: async () => (await import('./env.js')).envCommand },
  agents: { summary: 'agents', load: async () => (await import('./agents.js')).agentCommands },
  keys: { summary: 'gateway tokens', load: async () => (await import('./keys.js')).keyCommands },
  providers: { summary: 'built-in providers', load: async () => (await import('./providers.js')).providerCommands },
  accounts: {
    summary: 'provider credentials of agents',
    load: async () => (await import('./accounts.js')).accountCommands,
  },
  'custom-providers': {
    summary: 'providers of your own',
    load: async () => (await import('./custom-providers.js')).customProviderCommands,
  },
  projects: { summary: 'projects', load: async () => (await import('./projects.js')).projectCommands },
  members: { summary: 'people', load: async () => (await import('./members.js')).memberCommands },
  tokens: { summary: 'management tokens, for programs', load: async () => (await import('./tokens.js')).tokenCommands },
  org: { summary: 'the organizations of this login', load: async () => (await import('./org.js')).orgCommands },
};

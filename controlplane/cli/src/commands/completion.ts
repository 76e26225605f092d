/** `acg completion`: prints a shell script that calls this program for completions. */

import tab from '@bomb.sh/tab';
import { Argument, type Command } from 'commander';
import { fetchAllRows } from '../api/call-api-operation.js';
import { createApiClient } from '../invocation/api-client-with-timeout-and-retry.js';
import type { Invocation } from '../invocation/invocation.js';
import type { ProgramInterface } from '../invocation/program-interface-for-commands.js';

const SHELLS = ['bash', 'zsh', 'fish', 'powershell'] as const;
/** Time limit in ms: the user waits after pressing Tab. */
const TIMEOUT_MS = 1_500;

export function registerCompletionCommand(command: Command, _tree: ProgramInterface): void {
  command.addArgument(new Argument('<shell>', 'which').choices(SHELLS)).action((shell: string) => {
    tab.setup('acg', 'acg', shell);
  });
}

/** Called by the scripts: `acg complete -- words…` */
export function registerCompleteCommand(
  command: Command,
  { begin, loadAllCommands: everything }: ProgramInterface,
): void {
  command.argument('[words...]').action(async (words: readonly string[]) => {
    const run = begin();
    const program = await everything();
    const agents = words.some((word) => /agent/.test(word)) ? await listAgentSlugs(run) : [];
    addCompletions(program, '', agents);
    tab.parse([...words]);
  });
}

function addCompletions(parent: Command, path: string, agents: readonly string[]): void {
  for (const command of parent.commands) {
    const name = path === '' ? command.name() : `${path} ${command.name()}`;
    if (command.name() === 'complete') continue;
    const entry = tab.command(name, command.description());
    const ancestors = [command, parent, ...(parent.parent === null ? [] : [parent.parent])];
    for (const option of ancestors.flatMap(({ options }) => options)) {
      if (option.long === undefined || option.long === null) continue;
      const values = option.long === '--agent' ? agents : (option.argChoices ?? []);
      const handler = (complete: (value: string, description: string) => void): void => {
        for (const value of values) complete(value, '');
      };
      const short = option.short?.slice(1);
      if (option.required) entry.option(option.long.slice(2), option.description, handler, short);
      else if (short === undefined) entry.option(option.long.slice(2), option.description);
      else entry.option(option.long.slice(2), option.description, short);
    }
    for (const argument of command.registeredArguments) {
      const values = argument.name() === 'agent' ? agents : (argument.argChoices ?? []);
      const handler = (complete: (value: string, description: string) => void): void => {
        for (const value of values) complete(value, '');
      };
      entry.argument(argument.name(), handler, argument.variadic);
    }
    addCompletions(command, name, agents);
  }
}

/**
 * Completes slugs only, because they contain no shell syntax. Empty when not logged in or when the API does not
 * respond.
 */
async function listAgentSlugs(run: Invocation): Promise<readonly string[]> {
  try {
    const { url, token } = run.settings;
    if (token === null) return [];
    const client = createApiClient({ url, token, timeoutMs: TIMEOUT_MS });
    const agents = await fetchAllRows(client, 'GET /v1/usage/agents', 'agents');
    return agents.map(({ slug }) => slug).filter((slug) => /^[a-z0-9-]+$/.test(slug));
  } catch {
    return [];
  }
}

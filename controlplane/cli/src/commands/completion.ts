/** `acg completion`: prints or installs a shell script that calls this program for completions. */

import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import tab from '@bomb.sh/tab';
import { Argument, type Command } from 'commander';
import { fetchAllRows } from '../api/call-api-operation.js';
import { createApiClient } from '../invocation/api-client-with-timeout-and-retry.js';
import type { Invocation } from '../invocation/invocation.js';
import type { ProgramInterface } from '../invocation/program-interface-for-commands.js';
import { usage } from '../terminal/cli-error.js';

const SHELLS = ['bash', 'zsh', 'fish', 'powershell'] as const;
/** Time limit in ms: the user waits after pressing Tab. */
const TIMEOUT_MS = 1_500;

export function registerCompletionCommand(command: Command, { begin }: ProgramInterface): void {
  command
    .addArgument(new Argument('<shell>', 'name of the shell').choices(SHELLS))
    .option('--install', 'write the script where the shell loads it from')
    .action((shell: Shell, { install }: { readonly install?: true }) => {
      const run = begin();
      const script = completionScript(shell);
      if (install !== true) {
        run.terminal.stdout.write(script);
        return;
      }
      const path = installPath(run, shell);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, script);
      run.printResult({ path }, () => run.printSuccess(`${path}; open a new ${shell}`));
      if (shell === 'zsh') run.printNote('~/.zshrc must have, before compinit: fpath=(~/.zfunc $fpath)');
    });
}

type Shell = (typeof SHELLS)[number];

/** The library only prints. In bash, a script that is sourced twice would fail on `readonly`. */
function completionScript(shell: Shell): string {
  const { log } = console;
  let script = '';
  console.log = (text: string) => {
    script += `${text}\n`;
  };
  try {
    tab.setup('acg', 'acg', shell);
  } finally {
    console.log = log;
  }
  if (shell !== 'bash') return script;
  return script
    .replaceAll(/^readonly (?=ShellCompDirective)/gm, '')
    .replace('    _get_comp_words_by_ref -n "=:" cur prev words cword\n', BASH_WORDS);
}

/** `_get_comp_words_by_ref` belongs to the package bash-completion, which may be missing. */
const BASH_WORDS = `    if declare -F _get_comp_words_by_ref >/dev/null; then
        _get_comp_words_by_ref -n "=:" cur prev words cword
    else
        words=("\${COMP_WORDS[@]:0:COMP_CWORD+1}") cword=$COMP_CWORD cur=\${COMP_WORDS[COMP_CWORD]}
    fi
`;

/** Where each shell looks for the scripts of its user. */
function installPath({ terminal: { env, home } }: Invocation, shell: Shell): string {
  const data = env.XDG_DATA_HOME || join(home, '.local/share');
  const config = env.XDG_CONFIG_HOME || join(home, '.config');
  if (shell === 'bash') return join(data, 'bash-completion/completions/acg');
  if (shell === 'zsh') return join(home, '.zfunc/_acg');
  if (shell === 'fish') return join(config, 'fish/completions/acg.fish');
  throw usage('powershell loads its profile only', 'acg completion powershell >> $PROFILE');
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

/** The command tree. Only the called group is loaded, so the start stays fast with many commands. */
import { Command, CommanderError } from 'commander';
import { COMMAND_GROUPS } from './commands/registry.js';
import { Invocation } from './invocation/invocation.js';
import type { ProgramInterface } from './invocation/program-interface-for-commands.js';
import { VERSION } from './invocation/version.js';
import { commandWords, nameOptionInError } from './options/name-flags-in-errors.js';
import type { GlobalFlags } from './settings/resolve-settings.js';
import { CliError, EXIT_CODES, toCliError } from './terminal/cli-error.js';
import { escapeControlCharacters, toJsonWithoutControlCharacters } from './terminal/escape-control-characters.js';
import type { JqFilter } from './terminal/jq-filter.js';
import type { Terminal } from './terminal/terminal.js';

/** Runs one command line and returns the exit code. */
export async function runCommandLine(words: readonly string[], terminal: Terminal): Promise<number> {
  const argv = words[0] === 'help' ? [...words.slice(1), '--help'] : words;
  const state: ProgramState = { group: '', command: 'acg', node: null, exitCode: EXIT_CODES.ok, jqFilter: null };
  const program = createProgram(terminal, state, argv);
  try {
    await program.parseAsync(argv, { from: 'user' });
    return state.exitCode;
  } catch (error) {
    const failure = toCommandLineError(error, state);
    if (failure === null) return EXIT_CODES.ok;
    if (failure.message !== '') printError(failure, terminal, hasJsonFlag(argv));
    return state.group === 'run' ? toRunExitCode(failure) : failure.exitCode;
  }
}

interface ProgramState {
  group: string;
  /** The words that call the current command. */
  command: string;
  /** The current command; null before it is known. */
  node: Command | null;
  exitCode: number;
  jqFilter: JqFilter | null;
}

function createProgram(terminal: Terminal, state: ProgramState, argv: readonly string[]): Command {
  const program = new Command('acg')
    .description('The command line of the Agent Credential Gateway.')
    .version(VERSION, '--version', 'print the version')
    .option('--url <url>', 'the management API (ACG_URL)')
    .option('--profile <name>', 'which saved login (ACG_PROFILE)')
    .option('--org <org>', 'run in this organization, with the saved login that is in it (ACG_ORG)')
    .option('--project <project>', 'name, slug or id (ACG_PROJECT)')
    .option('--json', 'the answer of the API as it is; errors as JSON, too')
    .option('--jq <filter>', 'what this jq filter selects in the JSON, e.g. .agents[].slug')
    .option('--quiet', 'no remarks on stderr')
    .option('--yes', 'do not ask before what cannot be undone')
    .option('--insecure-http', 'allow http to other machines (ACG_INSECURE_HTTP=1)')
    .helpCommand(false)
    .exitOverride()
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: (text) => terminal.stdout.write(text),
      writeErr: (text) => terminal.stderr.write(text),
      outputError: () => {},
    });
  const tree: ProgramInterface = {
    begin: () => new Invocation(terminal, program.opts<GlobalFlags>(), state.jqFilter),
    setExitCode: (code) => {
      state.exitCode = code;
    },
    loadAllCommands: async () => {
      await Promise.all(program.commands.map((group) => load(group)));
      return program;
    },
  };
  const loaded = new Set<string>();
  const showsHelp = argv.some((word) => word === '--help' || word === '-h');
  const load = async (group: Command): Promise<void> => {
    const name = group.name();
    const entry = COMMAND_GROUPS[name];
    if (entry === undefined || loaded.has(name)) return;
    loaded.add(name);
    (await entry.load())(group, tree);
    if (showsHelp) (await import('./commands/examples.js')).addExamples(group);
  };
  for (const [name, { summary, topic }] of Object.entries(COMMAND_GROUPS)) {
    program
      .command(name, { hidden: topic === null })
      .description(summary)
      .helpGroup(`${topic}:`)
      .helpCommand(false);
  }
  program.hook('preAction', async () => {
    const { jq } = program.opts<GlobalFlags>();
    if (jq !== undefined) state.jqFilter = (await import('./terminal/jq-filter.js')).compileJqFilter(jq);
  });
  return program.hook('preSubcommand', async (_program, group) => {
    state.group = group.name();
    state.command = `acg ${group.name()}`;
    state.node = group;
    await load(group);
    group.hook('preSubcommand', (_group, command) => {
      state.command = commandWords(command);
      state.node = command;
    });
  });
}

/** Returns null when the request was answered already (help, version). */
function toCommandLineError(error: unknown, { group, command, node }: ProgramState): CliError | null {
  if (!(error instanceof CommanderError)) return toCliError(nameOptionInError(error, node));
  if (error.code === 'commander.helpDisplayed' || error.code === 'commander.version') return null;
  // commander has printed the help already.
  const text = error.code === 'commander.help' ? '' : toArgumentMessage(error.message);
  const hint =
    group === 'run' && error.code === 'commander.unknownOption'
      ? 'put -- before the program: acg run --agent <agent> -- <command>'
      : `${command} --help`;
  return new CliError(EXIT_CODES.usage, text, { hint });
}

/** commander names an argument without the brackets that the help shows. */
const toArgumentMessage = (message: string): string =>
  message
    .replace(/^error: /, '')
    .replace(/^command-argument value '(.*)' is invalid for argument '(.*)'\./s, "'$1' is invalid for <$2>.")
    .replace(/^missing required argument '(.*)'/, 'missing <$1>');

function printError({ message, status, requestId, hint }: CliError, { stderr }: Terminal, json: boolean): void {
  if (json) {
    stderr.write(`${toJsonWithoutControlCharacters({ error: message, status, requestId, hint })}\n`);
    return;
  }
  const id = requestId === undefined || status === undefined || status < 500 ? '' : ` (request ${requestId})`;
  stderr.write(`acg: ${message.split('\n').map(escapeControlCharacters).join('\n')}${escapeControlCharacters(id)}\n`);
  if (hint !== undefined) stderr.write(`     → ${escapeControlCharacters(hint)}\n`);
}

/** Reads --json from the arguments, because parsing may have failed. */
function hasJsonFlag(argv: readonly string[]): boolean {
  const end = argv.indexOf('--');
  return (end === -1 ? argv : argv.slice(0, end)).includes('--json');
}

/** Every other code is the exit code of the child. */
const toRunExitCode = ({ exitCode }: CliError): number =>
  exitCode === EXIT_CODES.commandNotFound || exitCode === EXIT_CODES.notExecutable || exitCode > 128
    ? exitCode
    : EXIT_CODES.runFailed;

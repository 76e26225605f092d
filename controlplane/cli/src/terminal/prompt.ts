/** Prompts on stderr, only when a user can answer; otherwise the error names the flag to use. */
import { CliError, EXIT_CODES, usage } from './cli-error.js';
import { escapeControlCharacters } from './escape-control-characters.js';
import type { Terminal } from './terminal.js';

/** The terminal and whether prompts are allowed. */
interface PromptContext {
  readonly terminal: Terminal;
  readonly isInteractive: boolean;
  readonly flags: { readonly yes?: boolean };
}

/** Loaded with the first prompt. */
const loadPrompts = () => import('@clack/prompts');
const promptStreams = (run: PromptContext) => ({ input: run.terminal.stdin, output: run.terminal.stderr });

/** Requires a confirmation before something is deleted. */
export async function requireConfirmation(run: PromptContext, question: string): Promise<void> {
  if (run.flags.yes === true) return;
  if (!run.isInteractive) throw new CliError(EXIT_CODES.cancelled, `not confirmed: ${question}`, { hint: 'add --yes' });
  const { confirm } = await loadPrompts();
  const answer = await confirm({
    message: escapeControlCharacters(question),
    initialValue: false,
    ...promptStreams(run),
  });
  if (answer !== true) throw new CliError(EXIT_CODES.cancelled, 'cancelled');
}

interface Question {
  readonly message: string;
  /** The flag that replaces the prompt, e.g. `--name`. */
  readonly flag: string;
  readonly placeholder?: string;
}

export async function promptText(run: PromptContext, { message, flag, placeholder }: Question): Promise<string> {
  assertInteractive(run, message, flag);
  const { text } = await loadPrompts();
  const more = placeholder === undefined ? {} : { placeholder };
  return textOrCancel(await text({ message: escapeControlCharacters(message), ...more, ...promptStreams(run) }));
}

/** Prompts without showing the input. */
export async function promptSecret(run: PromptContext, { message, flag }: Question): Promise<string> {
  assertInteractive(run, message, flag);
  const { password } = await loadPrompts();
  return textOrCancel(await password({ message: escapeControlCharacters(message), mask: '•', ...promptStreams(run) }));
}

interface Choice {
  readonly value: string;
  readonly label: string;
}

export async function promptChoice(
  run: PromptContext,
  { message, flag }: Question,
  choices: readonly Choice[],
): Promise<string> {
  assertInteractive(run, message, flag);
  const { select } = await loadPrompts();
  const options = choices.map(({ value, label }) => ({ value, label: escapeControlCharacters(label) }));
  return textOrCancel(await select({ message: escapeControlCharacters(message), options, ...promptStreams(run) }));
}

function assertInteractive(run: PromptContext, message: string, flag: string): void {
  if (!run.isInteractive) throw usage(`${message}: no terminal to prompt on`, flag);
}

function textOrCancel(answer: unknown): string {
  if (typeof answer === 'string') return answer;
  throw new CliError(EXIT_CODES.cancelled, 'cancelled');
}

/** Questions, asked on stderr and only where somebody can answer; everywhere else it is said which flag answers them. */
import { EXIT, Failure, usage } from './failure.js';
import { printable } from './printable.js';
import type { Terminal } from './terminal.js';

/** Who is asked, and whether anybody may be. */
interface Asking {
  readonly terminal: Terminal;
  readonly interactive: boolean;
  readonly flags: { readonly yes?: boolean };
}

/** Loaded with the first question. */
const prompts = () => import('@clack/prompts');
const OUTPUT = (run: Asking) => ({ input: run.terminal.stdin, output: run.terminal.stderr });

/** Nothing is destroyed unasked. */
export async function confirmed(run: Asking, question: string): Promise<void> {
  if (run.flags.yes === true) return;
  if (!run.interactive) throw new Failure(EXIT.cancelled, `not confirmed: ${question}`, { hint: 'add --yes' });
  const { confirm } = await prompts();
  const answer = await confirm({ message: printable(question), initialValue: false, ...OUTPUT(run) });
  if (answer !== true) throw new Failure(EXIT.cancelled, 'cancelled');
}

interface Question {
  readonly message: string;
  /** What answers it where nobody can be asked, e.g. `--name`. */
  readonly flag: string;
  readonly placeholder?: string;
}

export async function askText(run: Asking, { message, flag, placeholder }: Question): Promise<string> {
  demandSomebody(run, message, flag);
  const { text } = await prompts();
  const more = placeholder === undefined ? {} : { placeholder };
  return answered(await text({ message: printable(message), ...more, ...OUTPUT(run) }));
}

/** What is typed does not show. */
export async function askSecret(run: Asking, { message, flag }: Question): Promise<string> {
  demandSomebody(run, message, flag);
  const { password } = await prompts();
  return answered(await password({ message: printable(message), mask: '•', ...OUTPUT(run) }));
}

interface Choice {
  readonly value: string;
  readonly label: string;
}

export async function askChoice(run: Asking, { message, flag }: Question, choices: readonly Choice[]): Promise<string> {
  demandSomebody(run, message, flag);
  const { select } = await prompts();
  const options = choices.map(({ value, label }) => ({ value, label: printable(label) }));
  return answered(await select({ message: printable(message), options, ...OUTPUT(run) }));
}

function demandSomebody(run: Asking, message: string, flag: string): void {
  if (!run.interactive) throw usage(`${message}: nobody is here to ask`, flag);
}

function answered(answer: unknown): string {
  if (typeof answer === 'string') return answer;
  throw new Failure(EXIT.cancelled, 'cancelled');
}

/** Rewrites a rejection of a request (400): fields of the API become the arguments and options of the command. */
import { ApiError } from '@acg/client/api-errors';
import { type Command, Option } from 'commander';
import { CliError, EXIT_CODES, toCliError } from '../terminal/cli-error.js';
import type { Field } from './field.js';

interface CommandFields {
  /** The words that call the command, e.g. `acg agents set`. */
  readonly command: string;
  readonly fields: Readonly<Record<string, Field<unknown>>>;
  /** The argument that names the resource in the path. */
  readonly argument?: string | undefined;
}

export function nameFlagsInError(error: unknown, { command, fields, argument }: CommandFields): unknown {
  if (!(error instanceof ApiError) || error.status !== 400) return error;
  const { message, ...details } = toCliError(error);
  if (message === 'the body must have at least one field')
    return new CliError(EXIT_CODES.usage, 'nothing to change: give at least one option', { hint: `${command} --help` });
  const { name, problem } = splitMessage(message);
  const parameter = fields[name]?.parameter;
  const flag =
    parameter === undefined
      ? /must be an id/.test(problem) && argument
      : parameter instanceof Option
        ? (parameter.long ?? parameter.flags)
        : `<${parameter.name()}>`;
  if (!flag) return error;
  const text = nameProblem(flag, problem, parameter instanceof Option ? parameter : undefined);
  return new CliError(EXIT_CODES.usage, text, { ...details, hint: details.hint ?? `${command} --help` });
}

/** Options whose name differs from the field of the API, whatever the command. */
const OPTIONS_BY_FIELD: Readonly<Record<string, readonly string[]>> = {
  startTime: ['--since', '--start'],
  endTime: ['--before', '--end'],
  from: ['--from', '--start'],
  to: ['--to', '--end'],
  password: ['--password-stdin'],
  policy: ['--policy-file'],
};

/** The same for a command of several calls: it finds the option of the command by the name of the field. */
export function nameOptionInError(error: unknown, command: Command | null): unknown {
  if (!(error instanceof ApiError) || error.status !== 400 || command === null || command.name() === 'api')
    return error;
  const { message, ...details } = toCliError(error);
  const { name, problem } = splitMessage(message);
  const option = findOption(command, name);
  const text = option === undefined ? `${name} ${problem}` : nameProblem(option.long ?? option.flags, problem, option);
  const hint = details.hint ?? (option === undefined ? undefined : `${commandWords(command)} --help`);
  return name === '' ? error : new CliError(EXIT_CODES.usage, text, { ...details, hint });
}

function findOption(command: Command, field: string): Option | undefined {
  const kebab = field.replace(/Id$/, '').replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  const names = OPTIONS_BY_FIELD[field] ?? [`--${kebab}`];
  for (let level: Command | null = command; level !== null; level = level.parent) {
    const option = level.options.find(({ long }) => names.includes(long ?? ''));
    if (option !== undefined) return option;
  }
  return undefined;
}

/** `budgets.1.tag must …` into `tag` and what is wrong with it, in plain words. */
function splitMessage(message: string): { readonly name: string; readonly problem: string } {
  const [, path = '', rest = ''] = /^([a-z]\w*(?:\.\w+)*) (.*)$/s.exec(message) ?? [];
  const name = path.split('.').findLast((part) => !/^\d+$/.test(part)) ?? '';
  const problem = rest
    .replace(/must match format "uuid"/, 'must be an id')
    .replace(/must match format "email"/, 'must be an e-mail address')
    .replace(/must match format "date-time"/, 'must be an instant, e.g. 2026-11-22T08:00:00Z')
    .replace(/must match format "date"/, 'must be a day, e.g. 2026-11-22')
    .replace(/must NOT have fewer than 1 characters/, 'is missing')
    .replace(/must NOT have fewer than (\d+) characters/, 'must have at least $1 characters')
    .replace(/must NOT have more than (\d+) characters/, 'must have at most $1 characters')
    .replace(/must be >= /, 'must be at least ')
    .replace(/must be <= /, 'must be at most ')
    .replace(/must be > /, 'must be more than ');
  return { name, problem };
}

const BOUND = /(must be (?:at least|at most|more than)) (\d+)$/;

/** Amounts are US cents and spans are seconds in the API; options take US dollars and spans such as 7d. */
function nameProblem(flag: string, problem: string, option: Option | undefined): string {
  const unit = option?.flags ?? '';
  const text = problem.replace(BOUND, (_all, bound: string, value: string) => {
    if (unit.includes('<usd>')) return `${bound} ${Number(value) / 100}`;
    return unit.includes('<span>') ? `${bound} ${formatSeconds(Number(value))}` : `${bound} ${value}`;
  });
  return /^(?:the|its) /.test(text) ? `${flag}: ${text}` : `${flag} ${text}`;
}

function formatSeconds(seconds: number): string {
  const [size, letter] = (
    [
      [86_400, 'd'],
      [3_600, 'h'],
      [60, 'm'],
      [1, 's'],
    ] as const
  ).find(([unit]) => seconds % unit === 0) ?? [1, 's'];
  return `${seconds / size}${letter}`;
}

/** `acg agents set` of the command `set` in the group `agents`. */
export function commandWords(command: { readonly parent: unknown; name(): string }): string {
  const parent = command.parent as typeof command | null;
  return parent === null ? command.name() : `${commandWords(parent)} ${command.name()}`;
}

/** Rewrites a rejection of a request (400): fields of the API become the arguments and options of the command. */
import { ApiError } from '@acg/client/api-errors';
import { Option } from 'commander';
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
  const [, name = '', rest = ''] = /^(\w+)(.*)$/s.exec(message) ?? [];
  const parameter = fields[name]?.parameter;
  const flag =
    parameter === undefined
      ? /must match format "uuid"/.test(rest) && argument
      : parameter instanceof Option
        ? (parameter.long ?? parameter.flags)
        : `<${parameter.name()}>`;
  if (!flag) return error;
  const problem = rest
    .replace('must match format "uuid"', 'must be an id')
    .replace('must NOT have fewer than 1 characters', 'is missing');
  return new CliError(EXIT_CODES.usage, flag + problem, { ...details, hint: details.hint ?? `${command} --help` });
}

/** `acg agents set` of the command `set` in the group `agents`. */
export function commandWords(command: { readonly parent: unknown; name(): string }): string {
  const parent = command.parent as typeof command | null;
  return parent === null ? command.name() : `${commandWords(parent)} ${command.name()}`;
}

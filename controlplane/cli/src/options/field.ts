/**
 * Arguments and options of a command whose values become fields of a request. Flags in angle or square brackets
 * (`<name>`) are an argument, flags with dashes (`--name <name>`) an option.
 */
import { Argument, type Command, Option } from 'commander';
import type { Invocation } from '../invocation/invocation.js';

export interface Field<Value> {
  readonly parameter: Argument | Option;
  /** Converts what commander parsed to the value of the request field; undefined leaves the field out. */
  readonly read: (parsed: never, run: Invocation) => Value | undefined | Promise<Value | undefined>;
}

/** The fields of a request that a command sets; a field that the API does not have is a type error. */
export type Fields<Request> = { readonly [Name in keyof Request]?: Field<Exclude<Request[Name], undefined>> };

const createParameter = (flags: string, help: string): Argument | Option =>
  /^[<[]/.test(flags) ? new Argument(flags, help) : new Option(flags, help);

export const textField = (flags: string, help: string): Field<string> => ({
  parameter: createParameter(flags, help),
  read: (text: string) => text,
});

/** An option without a value. */
export const flagField = (flags: string, help: string): Field<true> => ({
  parameter: createParameter(flags, help),
  read: () => true,
});

export const choiceField = <const Choice extends string>(
  flags: string,
  help: string,
  choices: readonly Choice[],
): Field<Choice> => ({ parameter: createParameter(flags, help).choices(choices), read: (choice: Choice) => choice });

/** `parse` also gets the value so far, for a repeatable option. */
export const parsedField = <Value>(
  flags: string,
  help: string,
  parse: (text: string, before: Value | undefined) => Value,
): Field<Value> => ({ parameter: createParameter(flags, help).argParser(parse), read: (value: Value) => value });

/** An option `--no-…`, which sets the request field to null. */
export const nullFlagField = (flags: string, help: string): Field<null> => ({
  parameter: createParameter(flags, help),
  read: (kept: boolean) => (kept ? undefined : null),
});

const NONE = 'none';

/** `none` sets the request field to null. Not at once, because commander replaces a parsed null by ''. */
export const parsedOrNoneField = <Value>(
  flags: string,
  help: string,
  parse: (text: string) => Value,
): Field<Value | null> =>
  mapField(
    parsedField<Value | typeof NONE>(flags, help, (text) => (text === NONE ? NONE : parse(text))),
    (value) => (value === NONE ? null : value),
  );

/** Converts the value when the command runs, for example a name to an id. */
export const mapField = <From, To>(
  { parameter, read }: Field<From>,
  convert: (value: From, run: Invocation) => To | Promise<To>,
): Field<To> => ({
  parameter,
  async read(parsed: never, run) {
    const value = await read(parsed, run);
    return value === undefined ? undefined : convert(value, run);
  },
});

/** Makes an option mandatory. */
export const requiredField = <Value>(field: Field<Value>): Field<Value> => {
  if (field.parameter instanceof Option) field.parameter.makeOptionMandatory();
  return field;
};

/** Shows the default in the help, and uses it. */
export const defaultField = <Value extends string>(field: Field<Value>, value: Value): Field<Value> => {
  field.parameter.default(value);
  return field;
};

export function addFields(command: Command, fields: Readonly<Record<string, Field<unknown>>>): void {
  for (const { parameter } of Object.values(fields)) {
    if (parameter instanceof Option) command.addOption(parameter);
    else command.addArgument(parameter);
  }
}

/** Returns the fields that the command line sets. */
export async function readFields(
  command: Command,
  fields: Readonly<Record<string, Field<unknown>>>,
  run: Invocation,
): Promise<Record<string, unknown>> {
  const values: Record<string, unknown> = {};
  for (const [name, { parameter, read }] of Object.entries(fields)) {
    const parsed: unknown =
      parameter instanceof Option
        ? command.getOptionValue(parameter.attributeName())
        : command.processedArgs[command.registeredArguments.indexOf(parameter)];
    const value = parsed === undefined ? undefined : await read(parsed as never, run);
    if (value !== undefined) values[name] = value;
  }
  return values;
}

/** The resource in the path of an operation, and how a command line names it. */
import type { Command, Option, OptionValues } from 'commander';
import type { Invocation } from '../../invocation/invocation.js';

export interface Found {
  readonly id: string;
}

export interface Target<Row extends Found = Found> {
  /** Flags and help. Without an argument the settings or the session select the resource. */
  readonly argument?: readonly [flags: string, help: string];
  /** Options that narrow the search. */
  readonly options?: readonly Option[];
  /** `text` is undefined when the argument is optional and left out. */
  readonly find: (run: Invocation, text: string, options: OptionValues) => Promise<Row>;
}

/** What a command line selects. */
export interface Selection<Row extends Found> {
  /** The first argument, which names the resource. */
  readonly text: string;
  readonly found: Row;
  readonly options: OptionValues;
  /** The organization, if a saved login tells it, and the gateway, for questions: `in acme at https://…`. */
  readonly at: string;
}

/** A resource that is named by its id only. */
export const idTarget = (flags: string, help: string): Target => ({
  argument: [flags, help],
  find: async (_run, id) => ({ id }),
});

export function addTarget(command: Command, { argument, options = [] }: Target): void {
  if (argument !== undefined) command.argument(...argument);
  for (const option of options) command.addOption(option);
}

/** Finds the target that the first argument names. Without a target, only reads the command line. */
export async function findTarget(
  command: Command,
  run: Invocation,
  target: Target | undefined,
): Promise<Selection<Found>> {
  const options = command.opts();
  const text: string = command.processedArgs[0];
  const found = (await target?.find(run, text, options)) ?? { id: '' };
  return { text, found, options, at: formatPlace(run) };
}

const formatPlace = ({ settings: { session, url } }: Invocation): string =>
  session === null ? `at ${url}` : `in ${session.org} at ${url}`;

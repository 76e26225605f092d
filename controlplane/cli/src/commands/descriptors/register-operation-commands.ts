/**
 * Registers commands that call one operation of the management API. A descriptor names the operation, the resource in
 * its path, the fields of its body and what is printed. An unknown field, a required field that nothing sets and a
 * missing resource are type errors.
 */
import type { Command, Option } from 'commander';
import { type BodyOf, callOperation, type Operation, type ResponseOf } from '../../api/call-api-operation.js';
import type { Invocation } from '../../invocation/invocation.js';
import type { ProgramInterface, RegisterCommands } from '../../invocation/program-interface-for-commands.js';
import { addFields, type Field, type Fields, readFields } from '../../options/field.js';
import { commandWords, nameFlagsInError } from '../../options/name-flags-in-errors.js';
import { requireConfirmation } from '../../terminal/prompt.js';
import { addTarget, type Found, findTarget, type Selection, type Target } from './operation-target-from-arguments.js';

type MakeBody<Row extends Found, Body> = (run: Invocation, selection: Selection<Row>) => Body | Promise<Body>;
type RemainingFields<Op extends Operation, Given> = Omit<BodyOf<Op>, keyof Given> & Partial<BodyOf<Op>>;

type OperationCall<Op extends Operation, Row extends Found, Given> = {
  readonly operation: Op;
  /** Arguments and options that become fields of the body. */
  readonly fields?: Given & Fields<BodyOf<Op>> & { readonly [Name in Exclude<keyof Given, keyof BodyOf<Op>>]: never };
  /** Options that are no field of the body. */
  readonly options?: readonly Option[];
  /** Parameters of the query, from the options. */
  readonly query?: (
    selection: Selection<Row>,
    run: Invocation,
  ) => Readonly<Record<string, unknown>> | Promise<Readonly<Record<string, unknown>>>;
  /** The question before the call; null for none. */
  readonly confirm?: (selection: Selection<Row>) => string | null;
  /** Prints the response for users. */
  readonly print: (run: Invocation, response: ResponseOf<Op>, selection: Selection<Row>) => void;
  /** Called after the output, also with --json: prints what to do next, or fails. */
  readonly after?: (run: Invocation, response: ResponseOf<Op>, selection: Selection<Row>) => void | Promise<void>;
} & (Op extends `${string}{${string}` ? { readonly target: Target<Row> } : { readonly target?: never }) &
  (object extends RemainingFields<Op, Given>
    ? { readonly body?: MakeBody<Row, RemainingFields<Op, Given>> }
    : { readonly body: MakeBody<Row, RemainingFields<Op, Given>> });

interface UntypedCall extends Omit<OperationCall<Operation, Found, object>, 'fields' | 'target' | 'body'> {
  readonly fields?: Readonly<Record<string, Field<unknown>>>;
  readonly target?: Target;
  readonly body?: MakeBody<Found, object>;
}

/** Registers a subcommand that calls the operation. */
export const operationCommand =
  <const Op extends Operation, Row extends Found = Found, Given = object>(
    descriptor: OperationCall<Op, Row, Given> & { readonly name: string; readonly description: string },
  ): RegisterCommands =>
  (group, tree) =>
    addOperation(
      group.command(descriptor.name).description(descriptor.description),
      tree,
      descriptor as unknown as UntypedCall,
    );

/** Makes the group itself call the operation. */
export const groupOperation =
  <const Op extends Operation, Row extends Found = Found, Given = object>(
    call: OperationCall<Op, Row, Given>,
  ): RegisterCommands =>
  (group, tree) =>
    addOperation(group, tree, call as unknown as UntypedCall);

function addOperation(command: Command, { begin }: ProgramInterface, call: UntypedCall): void {
  const { operation, target, fields = {}, options = [], query, confirm, body, print, after } = call;
  if (target !== undefined) addTarget(command, target);
  addFields(command, fields);
  for (const option of options) command.addOption(option);
  command.action(async () => {
    const run = begin();
    const client = await run.getClient();
    const selection = await findTarget(command, run, target);
    const values = await readFields(command, fields, run);
    const question = confirm?.(selection) ?? null;
    if (question !== null) await requireConfirmation(run, question);
    const more = await body?.(run, selection);
    const sent = call.fields === undefined && body === undefined ? undefined : { ...more, ...values };
    const input = { id: selection.found.id, body: sent, query: (await query?.(selection, run)) ?? {} };
    const sending = callOperation(client, operation, input);
    const response = (await sending.catch((error: unknown) => {
      const argument = target?.argument?.[0];
      throw nameFlagsInError(error, { command: commandWords(command), fields, argument });
    })) as never;
    run.printResult(response, () => print(run, response, selection));
    await after?.(run, response, selection);
  });
}

/** Registers the commands of a group in this order. */
export const commandGroup =
  (...commands: readonly RegisterCommands[]): RegisterCommands =>
  (group, tree) => {
    for (const register of commands) register(group, tree);
  };

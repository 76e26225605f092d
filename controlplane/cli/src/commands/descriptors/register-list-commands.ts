/**
 * Registers commands that print one page of a list of the management API as a table. A filter or a column that the API
 * does not have is a type error.
 */
import type { Command } from 'commander';
import {
  callOperation,
  type ListOperation,
  type QueryOf,
  type RowOf,
  type RowsField,
} from '../../api/call-api-operation.js';
import { findProjectId } from '../../api/find-by-name.js';
import type { ProgramInterface, RegisterCommands } from '../../invocation/program-interface-for-commands.js';
import { addFields, type Field, type Fields, readFields } from '../../options/field.js';
import { commandWords, nameFlagsInError } from '../../options/name-flags-in-errors.js';
import { addPageOptions, printRemainingRows, toPageQuery } from '../../options/page-options-and-value-parsers.js';
import type { Column } from '../../terminal/table.js';
import { addTarget, findTarget, type Target } from './operation-target-from-arguments.js';

type List<Op extends ListOperation, Rows extends RowsField<Op>> = {
  readonly operation: Op;
  /** The field of the response that holds the rows. */
  readonly rows: Rows;
  /** Arguments and options that become parameters of the query. */
  readonly filters?: Fields<QueryOf<Op>>;
  /** Lists only the selected project, if one is selected and no agent is. */
  readonly inProject?: 'projectId' extends keyof QueryOf<Op> ? true : never;
  readonly columns:
    | readonly Column<RowOf<Op, Rows>>[]
    | ((query: Partial<QueryOf<Op>>) => readonly Column<RowOf<Op, Rows>>[]);
} & (Op extends `${string}{${string}` ? { readonly target: Target } : { readonly target?: never });

/** Registers `ls`, or the subcommand of that name. */
export const listCommand =
  <const Op extends ListOperation, Rows extends RowsField<Op>>(
    list: List<Op, Rows> & { readonly name?: string; readonly description: string },
  ): RegisterCommands =>
  (group, tree) =>
    addList(group.command(list.name ?? 'ls').description(list.description), tree, list as unknown as UntypedList);

/** Makes the group itself print the list. */
export const groupList =
  <const Op extends ListOperation, Rows extends RowsField<Op>>(list: List<Op, Rows>): RegisterCommands =>
  (group, tree) =>
    addList(group, tree, list as unknown as UntypedList);

interface UntypedList {
  readonly operation: ListOperation;
  readonly rows: string;
  readonly filters?: Readonly<Record<string, Field<unknown>>>;
  readonly inProject?: true;
  readonly columns: readonly Column<object>[] | ((query: object) => readonly Column<object>[]);
  readonly target?: Target;
}
type Page = Readonly<Record<string, unknown>> & { readonly total: number; readonly offset: number };

function addList(command: Command, { begin }: ProgramInterface, list: UntypedList): void {
  const { operation, filters = {}, inProject, columns, target } = list;
  if (target !== undefined) addTarget(command, target);
  addFields(addPageOptions(command), filters);
  command.action(async () => {
    const run = begin();
    const client = await run.getClient();
    const { found, options } = await findTarget(command, run, target);
    const query = await readFields(command, filters, run);
    const { project } = run.settings;
    if (inProject === true && project !== null && query.agentId === undefined)
      query.projectId = await findProjectId(client, project);
    const input = { id: found.id, query: { ...query, ...toPageQuery(options) } };
    const page = (await callOperation(client, operation, input).catch((error: unknown) => {
      throw nameFlagsInError(error, {
        command: commandWords(command),
        fields: filters,
        argument: target?.argument?.[0],
      });
    })) as Page;
    const rows = page[list.rows] as readonly object[];
    run.printResult(page, () => run.printTable(typeof columns === 'function' ? columns(query) : columns, rows));
    printRemainingRows(run, rows.length, page);
  });
}

/** Calls operations of the management API by method and path, typed from the API document. */
import { iterateAllRows } from '@acg/client/iterate-all-rows-by-offset';
import type { paths } from '@acg/client/schema';
import type { Client, ResponseBody } from '@acg/client/typed-api-client-throwing-errors';

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';
type PathsOf<M extends Method> = {
  [P in keyof paths]: paths[P] extends { readonly [method in M]: object } ? P : never;
}[keyof paths];

/** For example `GET /v1/projects/{id}`. */
export type Operation = { [M in Method]: `${Uppercase<M>} ${PathsOf<M>}` }[Method];

type MethodOf<Op extends Operation> = Op extends `${infer M} ${string}` ? Lowercase<M> & Method : never;
type PathOf<Op extends Operation> = Op extends `${string} ${infer P}` ? P & keyof paths : never;
type DocumentOf<Op extends Operation> = paths[PathOf<Op>][MethodOf<Op>];

export type ResponseOf<Op extends Operation> = ResponseBody<PathOf<Op>, MethodOf<Op>>;
export type QueryOf<Op extends Operation> =
  DocumentOf<Op> extends { parameters: { query?: infer Query } } ? NonNullable<Query> : never;
/** The fields of the request body; none for an operation without one. */
export type BodyOf<Op extends Operation> =
  DocumentOf<Op> extends { requestBody?: { content: { 'application/json': infer Body } } } ? Body : object;

interface ListPage {
  readonly total: number;
  readonly offset: number;
}
/** An operation that returns one page of a list. */
export type ListOperation = {
  [Op in Operation]: Op extends `GET ${string}` ? (ResponseOf<Op> extends ListPage ? Op : never) : never;
}[Operation];
/** The field of the response that holds the rows. */
export type RowsField<Op extends ListOperation> = {
  [Field in keyof ResponseOf<Op>]: ResponseOf<Op>[Field] extends readonly object[] ? Field : never;
}[keyof ResponseOf<Op>];
export type RowOf<
  Op extends ListOperation,
  Field extends RowsField<Op>,
> = ResponseOf<Op>[Field] extends readonly (infer Row)[] ? Row : never;

interface OperationInput {
  /** Of the resource in the path. */
  readonly id?: string;
  readonly query?: object;
  readonly body?: object | undefined;
}

/** The callers type the input and the response. */
export function callOperation(
  client: Client,
  operation: Operation,
  { id = '', query = {}, body }: OperationInput,
): Promise<object> {
  const [method, path] = operation.split(' ') as [string, string];
  const [, parameter] = /\{(\w+)\}/.exec(path) ?? [];
  const params = { query, ...(parameter === undefined ? {} : { path: { [parameter]: id } }) };
  const call = client[method.toLowerCase() as Method] as (path: string, input: object) => Promise<object>;
  return call(path, { params, ...(body === undefined ? {} : { body }) });
}

/** Returns every row of a list, over all its pages. */
export async function fetchAllRows<const Op extends ListOperation, Field extends RowsField<Op>>(
  client: Client,
  operation: Op,
  field: Field,
  filter: Partial<QueryOf<Op>> = {},
): Promise<RowOf<Op, Field>[]> {
  const all: RowOf<Op, Field>[] = [];
  type Page = ListPage & { readonly [field in Field]: RowOf<Op, Field>[] };
  const load = (page: object) => callOperation(client, operation, { query: { ...filter, ...page } }) as Promise<Page>;
  for await (const row of iterateAllRows(load, (page: Page) => page[field])) all.push(row);
  return all;
}

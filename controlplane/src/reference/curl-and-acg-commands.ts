/**
 * Shell commands that call an operation, with `curl` and with `acg`. Bodies are the document's examples. Ids and other
 * values that only the caller knows are shell variables: `/v1/agents/$ID`.
 */
import { type ApiDocument, type ApiOperation, exampleOf, type Parameter } from './read-openapi-json.js';

interface OperationCommands {
  readonly curl: string;
  readonly acg: string;
}

export function buildCommands(document: ApiDocument, { method, path, operation }: ApiOperation): OperationCommands {
  const { parameters = [], requestBody, security } = operation;
  const target = path.replace(/\{(\w+)\}/g, (_, name: string) => shellVariable(name));
  const query = parameters
    .filter((parameter) => parameter.in === 'query' && parameter.required)
    .map((parameter) => `${parameter.name}=${sampleValue(parameter)}`);
  const body = exampleOf(document, requestBody?.content['application/json']);
  const data = body === undefined ? null : quote(JSON.stringify(body));
  const url = `${document.servers[0].url}${target}${query.length === 0 ? '' : `?${query.join('&')}`}`;
  return {
    curl: [
      `curl -X ${method} "${url}"`,
      security.length === 0 ? '' : '-H "Authorization: Bearer $ACG_TOKEN"',
      data === null ? '' : `-H 'Content-Type: application/json' -d ${data}`,
    ]
      .filter((part) => part !== '')
      .join(' '),
    acg: [
      `acg api ${method} "${target}"`,
      ...query.map((pair) => `-q "${pair}"`),
      ...(data === null ? [] : [`-d ${data}`]),
    ].join(' '),
  };
}

/** `endpointId` → `$ENDPOINT_ID`. */
const shellVariable = (name: string): string => `$${name.replace(/[A-Z]/g, '_$&').toUpperCase()}`;

const sampleValue = ({ name, schema, examples = {} }: Parameter): string =>
  String(schema.enum?.[0] ?? Object.values(examples)[0]?.value ?? shellVariable(name));

/** Quotes for a POSIX shell. */
const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

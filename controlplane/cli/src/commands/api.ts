/** `acg api`: sends any call of the management API, for operations without a command. */
import { Argument, type Command, InvalidArgumentError } from 'commander';
import type { Invocation } from '../invocation/invocation.js';
import type { ProgramInterface } from '../invocation/program-interface-for-commands.js';
import { parsePair } from '../options/page-options-and-value-parsers.js';
import { usage } from '../terminal/cli-error.js';
import { escapeControlCharactersInLines } from '../terminal/escape-control-characters.js';
import { readFileOrStdin } from '../terminal/secret-input.js';

interface ApiOptions {
  readonly data?: string;
  readonly query?: readonly (readonly [string, string])[];
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

function parseMethod(text: string): string {
  const method = METHODS.find((known) => known === text.toUpperCase());
  if (method === undefined) throw new InvalidArgumentError(`It must be ${METHODS.join(', ')}.`);
  return method;
}

export function registerApiCommand(command: Command, { begin }: ProgramInterface): void {
  command
    .addArgument(new Argument('<method>', 'of the operation').choices(METHODS).argParser(parseMethod))
    .argument('<path>', 'e.g. /v1/projects')
    .option('-d, --data <json>', 'the body; @file reads it from a file, - from stdin')
    .option('-q, --query <name=value>', 'a parameter; repeatable', (text: string, before: ApiOptions['query'] = []) => [
      ...before,
      parsePair(text),
    ])
    .action(async (method: string, path: string, { data, query = [] }: ApiOptions) => {
      const run = begin();
      if (!/^\/v1\/[^\s?#]*(?:\?\S*)?$/.test(path))
        throw usage(`the path must begin with /v1/, not ${JSON.stringify(path)}`);
      const parameters = new URLSearchParams(query.map(([name, value]): [string, string] => [name, value])).toString();
      const target = parameters === '' ? path : `${path}${path.includes('?') ? '&' : '?'}${parameters}`;
      const body = data === undefined ? null : await readBody(run, data);
      const init = body === null ? {} : { body, headers: { 'content-type': 'application/json' } };
      const response = await (await run.getClient()).send(method, target, init);
      const text = await response.text();
      if ((response.headers.get('content-type') ?? '').includes('json')) run.printJson(JSON.parse(text), 2);
      else run.terminal.stdout.write(run.terminal.stdout.isTTY ? escapeControlCharactersInLines(text) : text);
    });
}

async function readBody(run: Invocation, data: string): Promise<string> {
  const text =
    data === '-' || data.startsWith('@') ? await readFileOrStdin(run.terminal, data.replace(/^@/, '')) : data;
  try {
    JSON.parse(text);
  } catch {
    throw usage('the body must be JSON');
  }
  return text;
}

import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { buildCommands } from './curl-and-acg-commands.js';
import { operationsOfTag, readApiDocument } from './read-openapi-json.js';

const document = readApiDocument('https://gw.example.org/under');
const operations = document.tags.flatMap(({ name }) => operationsOfTag(document, name));

const commandsOf = (operationId: string) =>
  buildCommands(document, operations.find(({ operation }) => operation.operationId === operationId)!);

test('commands: a path with an id, and a required parameter', () => {
  expect(commandsOf('listDeliveries')).toEqual({
    curl: 'curl -X GET "https://gw.example.org/under/v1/webhooks/$ENDPOINT_ID/deliveries" -H "Authorization: Bearer $ACG_TOKEN"',
    acg: 'acg api GET "/v1/webhooks/$ENDPOINT_ID/deliveries"',
  });
  expect(commandsOf('getUsageBreakdown').acg).toBe('acg api GET "/v1/usage/breakdown" -q "by=model"');
});

test('commands: a public operation sends no token', () => {
  expect(commandsOf('getConfig').curl).toBe('curl -X GET "https://gw.example.org/under/v1/config"');
});

/** The arguments that a shell passes to a program. */
function parseWithShell(command: string): readonly string[] {
  const script = `set -- ${command}\nfor argument do printf '%s\\0' "$argument"; done`;
  return execFileSync('sh', ['-c', script], { encoding: 'utf8' }).split('\0').slice(0, -1);
}

test('commands: a shell passes the example of every body as it is', () => {
  const withBody = operations.filter(({ operation }) => operation.requestBody !== undefined);
  expect(withBody.length).toBeGreaterThan(20);
  for (const call of withBody) {
    const { curl, acg } = buildCommands(document, call);
    const bodies = [curl, acg].map((command) => {
      const words = parseWithShell(command);
      return JSON.parse(words[words.indexOf('-d') + 1]!);
    });
    expect(bodies[0]).toBeTypeOf('object');
    expect(bodies[1]).toEqual(bodies[0]);
  }
});

test('commands: a quote in a body ends no argument', () => {
  const call = operations.find(({ operation }) => operation.operationId === 'createAgent')!;
  const value = { name: "Ada's bot; $(id) `id`" };
  const changed = { ...document, components: { ...document.components, examples: { AgentInput: { value } } } };
  for (const command of Object.values(buildCommands(changed, call)))
    expect(parseWithShell(command)).toContain(JSON.stringify(value));
});

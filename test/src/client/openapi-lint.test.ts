/** Checks the API document: it is complete and passes a strict linter. `npm run openapi` fails when this test does. */
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { Ajv2020 } from 'ajv/dist/2020.js';
import ajvFormats from 'ajv-formats';
import { expect, test } from 'vitest';
import { generateDocumentFromRoutes } from '../openapi/generate-from-routes.js';

// Built from the current routes; generated-files.test.ts compares the committed file with it.
const { document, problems } = await generateDocumentFromRoutes();
const source = JSON.stringify(document);

/**
 * Disabled rules: the first because this repository has no licence text, the second because the router prefers fixed
 * segments.
 */
const OFF = { 'info-license': 'off', 'no-ambiguous-paths': 'off' } as const;

async function lint(text: string): Promise<readonly string[]> {
  const config = await createConfig({ extends: ['recommended-strict'], rules: OFF });
  const problems = await lintFromString({ source: text, config });
  return problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} (${location[0]?.pointer})`);
}

/** For a document with gaps these rules would report many lines per gap; the first test reports one. */
const whole = test.skipIf(problems.length > 0);

test('complete: every route has a name, a group and a summary, every field has an example', () => {
  expect(problems).toEqual([]);
});

whole('a strict linter has nothing to say', async () => {
  expect(await lint(source)).toEqual([]);
});

test('every name and label in a body follows the rule for names', () => {
  const { schemas } = document.components as { schemas: Record<string, { properties?: object }> };
  const names = Object.entries(schemas).flatMap(([schema, { properties = {} }]) =>
    Object.entries(properties as Record<string, { pattern?: string }>)
      .filter(([field]) => /(?:Input|Patch|Put)$/.test(schema) && /^(?:name|orgName|displayName|label)$/.test(field))
      .map(([field, { pattern = '' }]) => ({ field: `${schema}.${field}`, pattern: new RegExp(pattern, 'u') })),
  );
  expect(names.length).toBeGreaterThan(20);
  for (const { field, pattern } of names)
    for (const hidden of ['\u200b', '\u202e', '\u2066', '\ufeff', '\u0000'])
      expect([field, hidden, pattern.test(`a${hidden}b`), pattern.test('ab')]).toEqual([field, hidden, false, true]);
});

test('the linter detects an operation without a summary, an undeclared tag scheme, a wrong example', async () => {
  const broken = JSON.parse(source);
  delete broken.paths['/v1/agents'].get.summary;
  broken.paths['/v1/agents'].get.security = [{ nobody: [] }];
  broken.webhooks['agent.created'].post.requestBody.content['application/json'].example.event = 7;
  const rules = (await lint(JSON.stringify(broken))).map((line) => line.split(':')[0]);
  expect(rules).toEqual(
    expect.arrayContaining(['operation-summary', 'security-defined', 'no-invalid-media-type-examples']),
  );
});

test('operations, their parameters and answers are named: nothing anonymous in what clients send and get', () => {
  const { paths } = JSON.parse(source) as { paths: Record<string, Record<string, Operation>> };
  interface Content {
    readonly content?: Record<string, { readonly schema: { readonly $ref?: string } }>;
  }
  interface Operation {
    readonly operationId: string;
    readonly requestBody?: Content;
    readonly responses: Record<string, Content>;
  }
  const operations = Object.values(paths).flatMap((path) => Object.values(path));
  const anonymous = operations.flatMap(({ operationId, requestBody, responses }) =>
    [requestBody ?? {}, ...Object.values(responses)]
      .flatMap(({ content = {} }) => content['application/json'] ?? [])
      .filter(({ schema }) => schema.$ref === undefined)
      .map(() => operationId),
  );
  expect(anonymous).toEqual([]);
  expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length);
});

interface Shown {
  readonly schema: object;
  readonly example?: unknown;
  readonly examples?: { readonly example: { readonly $ref: string } };
}

whole('every body and every answer has an example, which is as its schema says', () => {
  const { paths, components } = JSON.parse(source) as {
    paths: Record<string, Record<string, { requestBody?: object; responses: Record<string, object> }>>;
    components: { schemas: object; examples: Record<string, { value: unknown }>; responses: Record<string, object> };
  };
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  ajvFormats.default(ajv);
  const operations = Object.values(paths).flatMap((path) => Object.values(path));
  const parts = [
    ...operations.flatMap(({ requestBody = {}, responses }) => [requestBody, ...Object.values(responses)]),
    ...Object.values(components.responses),
  ] as { readonly content?: Record<string, Shown> }[];
  const contents = parts.flatMap(({ content = {} }) => Object.values(content));
  const wrong: unknown[] = [];
  for (const { schema, example, examples } of contents) {
    const name = examples?.example.$ref.split('/').at(-1);
    const value = name === undefined ? example : components.examples[name]?.value;
    // Closed: an example cannot contain fields that its schema lacks.
    const closed = { components, unevaluatedProperties: false, ...schema };
    if (!ajv.validate(closed, value)) wrong.push([schema, ajv.errorsText()]);
  }
  expect(wrong).toEqual([]);
  expect(contents.length).toBeGreaterThan(operations.length);
});

test('placeholders of secrets in examples are recognizable', () => {
  const { components } = JSON.parse(source) as { components: { examples: object } };
  const secrets: string[] = [];
  JSON.stringify(components.examples, (field, value) => {
    if (/password|secret|apiKey$|^token$|deviceCode/i.test(field) && typeof value === 'string') secrets.push(value);
    return value;
  });
  expect(secrets.length).toBeGreaterThan(20);
  expect(secrets.filter((text) => !/example|^(?:acg[ms]?|whsec)_0{64}$/.test(text))).toEqual([]);
});

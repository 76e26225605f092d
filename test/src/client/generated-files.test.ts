/**
 * The API's document and the types of its client, as committed, are those of the routes. `npm run openapi` rewrites both.
 */
import { fileURLToPath } from 'node:url';
import openapiTS, { astToString, type OpenAPI3 } from 'openapi-typescript';
import { expect, test } from 'vitest';
import { generateDocumentFromRoutes } from '../openapi/generate-from-routes.js';

const DOCUMENT = fileURLToPath(new URL('../../../controlplane/openapi.json', import.meta.url));
const TYPES = fileURLToPath(new URL('../../../controlplane/client/src/schema.ts', import.meta.url));
const HEADER =
  '/** Made by `npm run openapi` from controlplane/openapi.json, which comes from the routes. Do not edit. */\n\n';

// Once: snapshots are written when all tests have run.
const { document } = await generateDocumentFromRoutes();

test('openapi.json is the document of the routes: run npm run openapi', async () => {
  await expect(`${JSON.stringify(document, null, 2)}\n`).toMatchFileSnapshot(DOCUMENT);
});

test('schema.ts has the types of openapi.json: run npm run openapi', async () => {
  await expect(
    `${HEADER}${astToString(await openapiTS(document as unknown as OpenAPI3, { rootTypes: true, rootTypesNoSchemaPrefix: true, defaultNonNullable: false }))}`,
  ).toMatchFileSnapshot(TYPES);
});

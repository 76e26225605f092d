/**
 * The API's document and the types of its client, as committed, are those of the routes. `npm run openapi` rewrites both.
 */
import { fileURLToPath } from 'node:url';
import { createLogger } from '@acg/base/log';
import { loadConfig } from '@acg/controlplane/config';
import { buildService } from '@acg/controlplane/service';
import openapiTS, { astToString, type OpenAPI3 } from 'openapi-typescript';
import { expect, test } from 'vitest';
import { writeDocument } from '../api-document/document.js';
import { exportedNames } from '../api-document/named-schemas.js';

const DOCUMENT = fileURLToPath(new URL('../../../controlplane/openapi.json', import.meta.url));
const TYPES = fileURLToPath(new URL('../../../controlplane/client/src/schema.ts', import.meta.url));
const HEADER =
  '/** Made by `npm run openapi` from controlplane/openapi.json, which comes from the routes. Do not edit. */\n\n';

/** From the routes of a control plane that never starts: no database is asked. */
async function written() {
  const config = loadConfig({
    DATABASE_URL: 'postgres://nobody@127.0.0.1:9/none',
    MASTER_KEYS: `test:${Buffer.alloc(32).toString('base64')}`,
    JWT_SECRET: 'a secret that signs nothing, only for this document',
    INTERNAL_TOKEN: 'a token that opens nothing, only for this document',
  });
  const { app } = buildService(config, createLogger('control', 'silent'));
  try {
    return writeDocument(app.routeTable, await exportedNames(), config.version);
  } finally {
    await app.close();
  }
}

// Once: snapshots are written when all tests have run.
const { document, problems } = await written();

test('the document says of every route what it is', () => {
  expect(problems).toEqual([]);
});

test('openapi.json is the document of the routes', async () => {
  await expect(`${JSON.stringify(document, null, 2)}\n`).toMatchFileSnapshot(DOCUMENT);
});

test('schema.ts has the types of openapi.json', async () => {
  await expect(
    `${HEADER}${astToString(await openapiTS(document as unknown as OpenAPI3, { rootTypes: true, rootTypesNoSchemaPrefix: true, defaultNonNullable: false }))}`,
  ).toMatchFileSnapshot(TYPES);
});

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ConfigError } from '@acg/base/env-reader';
import { expect, test } from 'vitest';
import { Catalogue } from './catalogue.js';
import { BUILT_IN_DIRECTORY, loadProviderFiles } from './load-provider-files.js';
import { ProviderFile } from './provider-definition.js';

test('provider.schema.json is the schema of the code', async () => {
  const schema = { $schema: 'http://json-schema.org/draft-07/schema#', ...ProviderFile };
  await expect(`${JSON.stringify(schema, null, 2)}\n`).toMatchFileSnapshot(
    fileURLToPath(new URL('../../../providers/provider.schema.json', import.meta.url)),
  );
});

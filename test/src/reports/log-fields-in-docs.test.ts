/** The contract lists the fields of a log record. `npx vitest run <this file> -u` generates the list. */
import { LOG_FIELD_ROWS } from '@acg/base/call-log-fields';
import { test } from 'vitest';
import { expectGeneratedParts } from '../fixtures/expect-generated-doc-parts.js';

const TYPE_TEXT = {
  uuid: 'UUID',
  time: 'ISO 8601',
  text: 'text',
  textOrNull: 'text or null',
  count: 'integer',
  countOrNull: 'integer or null',
  numberOrNull: 'number or null',
  number: 'number',
  flag: 'boolean',
} as const;

test('the contract has a row for each field', async () => {
  const rows = LOG_FIELD_ROWS.map(
    ({ name, type, description }) => `| \`${name}\` | ${TYPE_TEXT[type]} | ${description} |`,
  );
  const table = ['| field | type | meaning |', '|---|---|---|', ...rows].join('\n');
  await expectGeneratedParts('docs/contract.md', [[/(?<=^\*\*Log records\.\*\*.*?\n\n)\| field .*?(?=\n\n)/ms, table]]);
});

/** The pages that list the events. `npx vitest run <this file> -u` generates the lists from the catalogue. */
import { EVENT_NAMES, EVENT_TYPES } from '@acg/controlplane/events/event-catalogue';
import { test } from 'vitest';
import { expectGeneratedParts } from './fixtures/expect-generated-doc-parts.js';

test('events in docs: the contract has a row for each event', async () => {
  const rows = EVENT_NAMES.map((name) => {
    const { title, severity, description } = EVENT_TYPES[name];
    return `| \`${name}\` | ${title} | ${severity} | ${description} |\n`;
  });
  const header = '| event | title | severity | when |\n|---|---|---|---|\n';
  await expectGeneratedParts('docs/contract.md', [
    [/(?<=^## Events\n\n)\| event \|.*?(?=\n\n)/ms, `${header}${rows.join('')}`.trimEnd()],
  ]);
});

test('events in docs: the page of webhooks names each event', async () => {
  const names = EVENT_NAMES.map((name) => `- \`${name}\`: ${EVENT_TYPES[name].title}`);
  await expectGeneratedParts('docs/webhooks.md', [[/(?<=^Events:\n\n)- .*?(?=\n\n)/ms, names.join('\n')]]);
});

/** The pages that list the events list every one, and none that there is not. */
import { readFileSync } from 'node:fs';
import { EVENT_NAMES } from '@acg/controlplane/events/event-catalogue';
import { expect, test } from 'vitest';

test.each([
  ['docs/contract.md', 'the first paragraph of “Events”', /^## Events\n\n(.*?)\n\n/ms],
  ['docs/webhooks.md', 'the list behind “Events:”', /\bEvents:\n(.*?);/s],
] as const)('%s: %s', (path, place, pattern) => {
  const text = readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
  const [, list = ''] = pattern.exec(text) ?? [];
  const named = [...list.matchAll(/`([a-z]+\.[a-z_]+)`/g)].map(([, name]) => name!);
  const missing = EVENT_NAMES.filter((name) => !named.includes(name));
  const unknown = named.filter((name) => !EVENT_NAMES.some((one) => one === name));
  expect({ missing, unknown }, `${path}, ${place}, against controlplane/src/events/event-catalogue.ts`).toEqual({
    missing: [],
    unknown: [],
  });
});

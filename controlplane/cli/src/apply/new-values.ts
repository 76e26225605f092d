/** The values after a change. */
import type { Fields } from './config-document.js';

export const newValues = (fields: Readonly<Record<string, readonly [unknown, unknown]>>): Fields =>
  Object.fromEntries(Object.entries(fields).map(([field, [, value]]) => [field, value]));

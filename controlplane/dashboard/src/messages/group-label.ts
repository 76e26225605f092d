/** Labels of the groups of usage reports. */
import { providerLabel } from './provider-labels.js';

const NIL_ID = /^[0-]*$/;
const SHORT = 8;

/** Calls without the value, e.g. without a model. No list can be filtered by it. */
export const isValueMissing = (value: string): boolean => NIL_ID.test(value);

/** Label of a group: its name, or a fallback for deleted and unknown ones. */
export function groupLabel(by: string, value: string, name: string | null): string {
  if (name !== null && name !== '') return name;
  if (isValueMissing(value)) return by === 'model' || by === 'tool' ? `no ${by}` : 'unknown';
  if (by === 'provider') return providerLabel(value);
  return by === 'agent' || by === 'project' || by === 'key' ? `deleted (${value.slice(-SHORT)})` : value;
}

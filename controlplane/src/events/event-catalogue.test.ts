import { expect, test } from 'vitest';
import { assertEventData, EVENT_NAMES, EVENT_TYPES } from './event-catalogue.js';

test.each(EVENT_NAMES)('catalogue: %s takes its sample, and neither a missing nor an additional field', (event) => {
  const { schema } = EVENT_TYPES[event];
  const sample: Record<string, unknown> = { ...EVENT_TYPES[event].sample };
  expect(() => assertEventData(event, sample)).not.toThrow();
  expect(() => assertEventData(event, { ...sample, secretKey: 'acg_x' })).toThrow(TypeError);
  expect(Object.keys(sample).sort()).toEqual(Object.keys(schema.properties).sort());
  const required: readonly string[] = schema.required;
  for (const field of Object.keys(sample)) {
    const { [field]: _, ...rest } = sample;
    // Events of earlier releases lack the optional fields.
    if (required.includes(field)) expect(() => assertEventData(event, rest)).toThrow(TypeError);
    else expect(() => assertEventData(event, rest)).not.toThrow();
  }
});

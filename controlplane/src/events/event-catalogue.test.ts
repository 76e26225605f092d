import { expect, test } from 'vitest';
import { assertEventData, EVENT_DATA_SCHEMAS, EVENT_NAMES, SAMPLE_EVENT_DATA } from './event-catalogue.js';

test.each(EVENT_NAMES)('catalogue: %s takes its sample, and neither a missing nor an additional field', (event) => {
  const sample: Record<string, unknown> = { ...SAMPLE_EVENT_DATA[event] };
  expect(() => assertEventData(event, sample)).not.toThrow();
  expect(() => assertEventData(event, { ...sample, secretKey: 'acg_x' })).toThrow(TypeError);
  expect(Object.keys(sample).sort()).toEqual(Object.keys(EVENT_DATA_SCHEMAS[event].properties).sort());
  const required: readonly string[] = EVENT_DATA_SCHEMAS[event].required;
  for (const field of Object.keys(sample)) {
    const { [field]: _, ...rest } = sample;
    // Events of earlier releases lack the optional fields.
    if (required.includes(field)) expect(() => assertEventData(event, rest)).toThrow(TypeError);
    else expect(() => assertEventData(event, rest)).not.toThrow();
  }
});

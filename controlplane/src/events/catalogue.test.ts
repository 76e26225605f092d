import { expect, test } from 'vitest';
import { assertEventData, EVENT_NAMES, SAMPLES } from './catalogue.js';

test.each(EVENT_NAMES)('catalogue: %s takes its sample, and neither a missing nor an additional field', (event) => {
  const sample: Record<string, unknown> = { ...SAMPLES[event] };
  expect(() => assertEventData(event, sample)).not.toThrow();
  expect(() => assertEventData(event, { ...sample, secretKey: 'acg_x' })).toThrow(TypeError);
  for (const field of Object.keys(sample)) {
    const { [field]: _, ...rest } = sample;
    expect(() => assertEventData(event, rest)).toThrow(TypeError);
  }
});

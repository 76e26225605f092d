import { EnvReader } from '@acg/base/env-reader';
import { expect, test } from 'vitest';
import { readOtlpSettings } from './otlp-settings.js';

function settings(env: Readonly<Record<string, string>>) {
  const read = new EnvReader(env);
  const found = readOtlpSettings(read);
  read.throwIfInvalid();
  return found;
}

test('traces: without an endpoint nothing is sent, whatever else is set', () => {
  expect(settings({ OTEL_SERVICE_NAME: 'x', OTEL_EXPORTER_OTLP_HEADERS: 'a=b' })).toBeNull();
});

test('traces: the place of spans follows from either endpoint', () => {
  const base = 'https://collector:4318/otlp/';
  expect(settings({ OTEL_EXPORTER_OTLP_ENDPOINT: base })?.tracesUrl).toBe('https://collector:4318/otlp/v1/traces');
  const own = 'http://collector/spans';
  const both = { OTEL_EXPORTER_OTLP_ENDPOINT: base, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: own };
  expect(settings(both)?.tracesUrl).toBe(own);
});

test('traces: header values are decoded and are secrets', () => {
  const found = settings({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c', OTEL_EXPORTER_OTLP_HEADERS: 'X-Key=a%2Cb, y = z' });
  expect([...found!.headers].map(([name, value]) => [name, value.reveal()])).toEqual([
    ['x-key', 'a,b'],
    ['y', 'z'],
  ]);
  expect(JSON.stringify([...found!.headers])).not.toContain('a,b');
});

test.each([
  ['OTEL_EXPORTER_OTLP_HEADERS', 'no pair'],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'a=%zz'],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'a=%0d%0aevil: 1'],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'a b=c'],
  ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc'],
  ['OTEL_EXPORTER_OTLP_TIMEOUT', 'soon'],
  ['OTEL_RESOURCE_ATTRIBUTES', 'x'],
])('traces: %s=%s stops the start with its name', (name, value) => {
  expect(() => settings({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c', [name]: value })).toThrow(name);
});

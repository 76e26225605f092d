import { ApiError } from '@acg/client/api-errors';
import { expect, test } from 'vitest';
import { FieldError, findFieldError } from './field-error.js';

const LABELS = {
  url: 'Address',
  events: 'Events',
  slug: 'Slug',
  email: 'E-mail',
  name: 'Your name',
  'credentials.apiKey': 'API key',
};
const createApiError = (error: string, status = 400) =>
  new ApiError({ status, error, requestId: 'r', retryAfter: null, secondFactor: false });

test.each([
  ['url must start with https://', 'url', 'Address must start with https://'],
  ['slug inhouse is taken: choose another one', 'slug', 'Slug inhouse is taken: choose another one'],
  ['events.0 must be one of a, b', 'events', 'Events must be one of a, b'],
  ['credentials.apiKey is required: this provider takes apiKey', 'credentials.apiKey', /^API key is required/],
  ['name must NOT have fewer than 1 characters', 'name', 'Your name must not have fewer than 1 characters'],
  ['this e-mail already has an account: log in instead', 'email', 'This e-mail already has an account: log in instead'],
  ['unknown field "apiKey" in credentials', null, null],
  ['urls must be few', null, null],
  ['the organization already has 20 webhook endpoints: delete one first', null, null],
])('assigns an API error to the field that it names: %s', (said, field, text) => {
  const problem = findFieldError(createApiError(said), LABELS);
  expect(problem?.field ?? null).toBe(field);
  if (text === null) return;
  if (typeof text === 'string') expect(problem!.text).toBe(text);
  else expect(problem!.text).toMatch(text);
});

test('assigns no field for server errors and rate limits', () => {
  expect(findFieldError(createApiError('url is slow', 503), LABELS)).toBeNull();
  expect(findFieldError(createApiError('url is requested too often', 429), LABELS)).toBeNull();
  expect(findFieldError(new Error('url'), LABELS)).toBeNull();
});

test('assigns an error of the page itself to its field, where the form has it', () => {
  const error = new FieldError('credentials.apiKey', 'The provider rejected it.');
  expect(findFieldError(error, LABELS)).toEqual({
    field: 'credentials.apiKey',
    text: 'The provider rejected it.',
  });
  expect(findFieldError(error, { url: 'Address' })).toBeNull();
});

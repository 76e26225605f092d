import { expect, test } from 'vitest';
import { type AuthSettings, checkAuthSettings } from './auth-settings-validation.js';

const settings = (change: Partial<AuthSettings>): AuthSettings => ({
  authType: 'bearer',
  authName: null,
  authPrefix: null,
  ...change,
});

test.each<[Partial<AuthSettings>]>([
  [{}],
  [{ authType: 'none' }],
  [{ authType: 'basic' }],
  [{ authType: 'query', authName: 'api_key' }],
  [{ authType: 'query', authName: 'auth[key]' }],
  [{ authType: 'header', authName: 'X-Api-Token' }],
  [{ authType: 'header', authName: 'Authorization', authPrefix: 'Token ' }],
])('auth settings: %j go together', (change) => {
  expect(() => checkAuthSettings(settings(change))).not.toThrow();
});

test.each<[Partial<AuthSettings>, string]>([
  [{ authName: 'X-Key' }, 'authName does not go with authType bearer: leave it out'],
  [{ authType: 'none', authPrefix: 'x' }, 'authPrefix does not go with authType none: leave it out'],
  [{ authType: 'query', authName: 'k', authPrefix: 'x' }, 'authPrefix does not go with authType query: leave it out'],
  [{ authType: 'header' }, 'authName is required for authType header'],
  [{ authType: 'query' }, 'authName is required for authType query'],
  [{ authType: 'query', authName: 'a&b' }, 'authName must be the name of a query parameter'],
  [{ authType: 'header', authName: 'X Key' }, 'authName must be the name of a header'],
  [{ authType: 'header', authName: 'X-Key\r\nHost' }, 'authName must be the name of a header'],
  [{ authType: 'header', authName: '' }, 'authName must be the name of a header'],
  [{ authType: 'header', authName: 'Host' }, 'authName cannot be Host'],
  [{ authType: 'header', authName: 'Transfer-Encoding' }, 'authName cannot be Transfer-Encoding'],
  [{ authType: 'header', authName: 'X-Forwarded-For' }, 'authName cannot be X-Forwarded-For'],
  [{ authType: 'header', authName: 'x-gateway-agent' }, 'authName cannot be x-gateway-agent'],
  [{ authType: 'header', authName: 'X-Key', authPrefix: 'a\r\nb' }, 'authPrefix must be 1 to 64 printable ASCII'],
])('auth settings: %j are refused, by the field', (change, message) => {
  expect(() => checkAuthSettings(settings(change))).toThrow(message);
});

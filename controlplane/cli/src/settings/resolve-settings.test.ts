import { expect, test } from 'vitest';
import { resolveSettings } from './resolve-settings.js';

const session = { url: 'https://gw.example', token: 'saved', orgId: 'o', org: 'acme' };
const none = { flags: {}, env: {}, projectFile: {}, current: 'default', profiles: {}, sessions: {} };
const saved = { ...none, profiles: { default: { url: session.url } }, sessions: { default: session } };

test('flags win over variables, those over .acg.json, that over the profile', () => {
  const profiles = { default: { url: 'https://a.example', project: 'of-profile' }, work: { url: 'https://b.example' } };
  const projectFile = { project: 'of-file', agent: 'of-file' };
  expect(resolveSettings({ ...none, profiles }).project).toBe('of-profile');
  expect(resolveSettings({ ...none, profiles, projectFile }).project).toBe('of-file');
  expect(resolveSettings({ ...none, projectFile, env: { ACG_PROJECT: 'of-env' } }).project).toBe('of-env');
  expect(
    resolveSettings({ ...none, projectFile, env: { ACG_PROJECT: 'of-env' }, flags: { project: 'of-flag' } }).project,
  ).toBe('of-flag');
  expect(resolveSettings({ ...none, profiles, projectFile: { profile: 'work' } }).url).toBe('https://b.example');
  expect(resolveSettings({ ...none, env: { ACG_PROJECT: '' }, projectFile }).project).toBe('of-file');
});

test('a saved token goes to no other address than its own', () => {
  expect(resolveSettings(saved).token).toBe('saved');
  expect(resolveSettings({ ...saved, flags: { url: 'https://gw.example/' } }).token).toBe('saved');
  expect(resolveSettings({ ...saved, flags: { url: 'https://evil.example' } }).token).toBeNull();
  expect(resolveSettings({ ...saved, env: { ACG_URL: 'https://gw.example.evil' } }).token).toBeNull();
  expect(resolveSettings({ ...saved, flags: { url: 'https://gw.example/other' } }).token).toBeNull();
});

test.each([
  'http://gw.example',
  'http://10.0.0.1:8080',
  'http://127.0.0.1.evil.example',
  'http://localhost.evil.example',
])('no token goes to %s in the clear unless that is asked for', (url) => {
  expect(() => resolveSettings({ ...none, flags: { url } })).toThrow('in the clear');
  expect(resolveSettings({ ...none, flags: { url, insecureHttp: true } }).url).toBe(url);
});

test.each(['http://127.0.0.1:8080', 'http://localhost:1', 'http://[::1]:8080', 'https://gw.example'])(
  '%s is fine',
  (url) => {
    expect(resolveSettings({ ...none, flags: { url } }).url).toBe(url);
  },
);

test('an organization selects the profile that is logged in to it, unless a profile is named', () => {
  const other = { url: 'https://other.example', token: 'of-other', orgId: 'p', org: 'other' };
  const profiles = { ...saved.profiles, work: { url: other.url } };
  const two = { ...saved, profiles, sessions: { default: session, work: other } };
  expect(resolveSettings({ ...two, flags: { org: 'other' } })).toMatchObject({ profile: 'work', token: 'of-other' });
  expect(resolveSettings({ ...two, env: { ACG_ORG: 'p' } }).url).toBe(other.url);
  expect(resolveSettings({ ...two, flags: { org: 'acme' } }).profile).toBe('default');
  expect(resolveSettings({ ...two, flags: { org: 'other', profile: 'default' } }).profile).toBe('default');
  expect(resolveSettings({ ...two, flags: { org: 'nowhere' } }).profile).toBe('default');
});

test('the address of the management API that the start prints is the gateway', () => {
  expect(resolveSettings({ ...none, flags: { url: 'http://127.0.0.1:8080/v1' } }).url).toBe('http://127.0.0.1:8080');
  expect(resolveSettings({ ...saved, env: { ACG_URL: 'https://gw.example/v1/' } }).token).toBe('saved');
});

test.each(['ftp://gw.example', 'gw.example', 'https://user:password@gw.example'])('%s is no address', (url) => {
  expect(() => resolveSettings({ ...none, flags: { url } })).toThrow();
});

test('a line break at the end of ACG_TOKEN is removed; one inside is an error that does not show the token', () => {
  const resolve = (ACG_TOKEN: string) => resolveSettings({ ...none, env: { ACG_TOKEN } });
  expect(resolve('acgm_secret\r\n').token).toBe('acgm_secret');
  for (const token of ['acgm_secret\nX-Other: 1', 'acgm_secret acgm_other', 'acgm_secret\u00e9']) {
    expect(() => resolve(token)).toThrow(/^ACG_TOKEN has a space, a line break or another character/);
    expect(() => resolve(token)).not.toThrow(/secret/);
  }
});

import { expect, test } from 'vitest';
import { replaceAccessToken } from './replace-supabase-access-token.js';

const TOKEN = `acg_${'0123456789abcdef'.repeat(4)}`;
const send = (text: string): string => replaceAccessToken(Buffer.from(text), Buffer.from(TOKEN), 'sk"real').toString();
const payload = { config: { broadcast: { self: true } }, access_token: TOKEN };
const real = { ...payload, access_token: 'sk"real' };

test.each(['phx_join', 'access_token'])('access token: replaces the token in %s messages of both forms', (event) => {
  const object = { topic: 'realtime:a', event, payload, ref: '1', join_ref: '1' };
  expect(JSON.parse(send(JSON.stringify(object)))).toEqual({ ...object, payload: real });
  const array = ['1', '2', 'realtime:a', event, payload];
  expect(JSON.parse(send(JSON.stringify(array)))).toEqual(['1', '2', 'realtime:a', event, real]);
});

test.each([
  ['a broadcast', JSON.stringify(['1', '2', 'realtime:a', 'broadcast', payload])],
  ['presence', JSON.stringify({ topic: 't', event: 'presence', payload, ref: '1' })],
  ['a second occurrence', JSON.stringify(['1', TOKEN, 'realtime:a', 'phx_join', payload])],
  ['a longer value', JSON.stringify(['1', '2', 't', 'phx_join', { access_token: `${TOKEN}x` }])],
  ['a deeper place', JSON.stringify(['1', '2', 't', 'phx_join', { config: { access_token: TOKEN } }])],
  ['an escaped token', JSON.stringify(['1', '2', 't', 'phx_join', payload]).replace('acg_', '\\u0061cg_')],
  ['a payload of another kind', JSON.stringify(['1', '2', 't', 'phx_join', [TOKEN]])],
  ['another length', JSON.stringify(['1', '2', 't', 'phx_join', payload, 6])],
  ['no JSON', `phx_join access_token ${TOKEN}`],
  ['a larger frame', JSON.stringify(['1', '2', 't', 'phx_join', { ...payload, x: 'x'.repeat(256 * 1024) }])],
  ['a list of nothing', `null ${TOKEN}`],
])('access token: leaves %s unchanged', (_name, text) => {
  expect(send(text)).toBe(text);
});

test('access token: serializes duplicate names once, so that no parser sees a broadcast', () => {
  const text = `{"event":"broadcast","topic":"t","payload":{"access_token":"${TOKEN}"},"event":"phx_join"}`;
  expect(send(text)).toBe('{"event":"phx_join","topic":"t","payload":{"access_token":"sk\\"real"}}');
  const hidden = `{"event":"phx_join","payload":{"access_token":"${TOKEN}"},"payload":{"access_token":"other"}}`;
  expect(send(hidden)).toBe(hidden);
});

test('access token: leaves a frame unchanged that is nested too deeply to be serialized', () => {
  const nested = `${'['.repeat(30_000)}${']'.repeat(30_000)}`;
  const frame = `["1","2","t","phx_join",{"access_token":"${TOKEN}","x":${nested}}]`;
  expect(send(frame)).toBe(frame);
});

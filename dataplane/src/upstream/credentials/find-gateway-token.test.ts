import { expect, test } from 'vitest';
import { CONFLICTING_TOKENS, findGatewayToken, removePathToken } from './find-gateway-token.js';

const TOKEN = `acg_${'0123456789abcdef'.repeat(4)}`;
const OTHER = `acg_${'f'.repeat(64)}`;
const basic = (pair: string): string => `Basic ${Buffer.from(pair).toString('base64')}`;
const sigv4 = (id: string): string =>
  `AWS4-HMAC-SHA256 Credential=${id}/20261120/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=00`;

test.each([
  [['authorization', `Bearer ${TOKEN}`], null, 'bearer', 'authorization'],
  [['authorization', `bearer  ${TOKEN} `], null, 'bearer', 'authorization'],
  [['authorization', basic(`user:${TOKEN}`)], null, 'basic', 'authorization'],
  [['authorization', basic(`${TOKEN}:`)], null, 'basic', 'authorization'],
  [['authorization', sigv4(TOKEN)], null, 'sigv4', 'authorization'],
  [['x-api-key', TOKEN], null, 'header', 'x-api-key'],
  [['api-key', TOKEN], null, 'header', 'api-key'],
  [['apikey', TOKEN], null, 'header', 'apikey'],
  [['x-goog-api-key', TOKEN], null, 'header', 'x-goog-api-key'],
  [[], `a=b&apikey=${TOKEN}&c`, 'query', ''],
  [[], `%61pikey=${TOKEN}`, 'query', ''],
  [[], `X-Amz-Credential=${TOKEN}%2F20261120%2Fus-east-1%2Fs3%2Faws4_request&X-Amz-Date=1`, 'presigned', ''],
  [['apikey', TOKEN, 'authorization', `Bearer ${TOKEN}`], null, 'header', 'apikey'],
  [['authorization', TOKEN], null, 'header', 'authorization'],
  [['authorization', `Bot ${TOKEN}`], null, 'header', 'authorization'],
  [['authorization', `Token ${TOKEN}`], null, 'header', 'authorization'],
  [['authorization', `Token token=${TOKEN}`], null, 'header', 'authorization'],
  [['authorization', `Token token="${TOKEN}"`], null, 'header', 'authorization'],
  [['authorization', `token=${TOKEN}`], null, 'header', 'authorization'],
  [['x-subscription-token', ` ${TOKEN}`], null, 'header', 'x-subscription-token'],
  [['private-token', TOKEN], null, 'header', 'private-token'],
  [['x-vendor-auth', `Klaviyo-API-Key ${TOKEN}`], null, 'header', 'x-vendor-auth'],
  [[], `a=b&key=${TOKEN}`, 'any_query', ''],
  [[], `api%5fkey=${TOKEN.replace('a', '%61')}&b=c`, 'any_query', ''],
])('finds the gateway token in headers %j and query %s', (headers, query, form, headerName) => {
  expect(findGatewayToken(headers, query, '')).toEqual({ gatewayToken: TOKEN, form, headerName, userJwt: null });
});

test.each([
  [[], null],
  [['authorization', `Bot ${TOKEN}x`], null],
  [['authorization', `a-scheme-of-many-characters ${TOKEN}`], null],
  [['authorization', 'Bearer sk-live'], null],
  [['authorization', `Bearer ${TOKEN}0`], null],
  [['authorization', `Bearer ${TOKEN.toUpperCase()}`], null],
  [['authorization', basic(`${TOKEN}:password`)], null],
  [['authorization', basic(TOKEN)], null],
  [['authorization', `Basic ${'A'.repeat(5000)}`], null],
  [['authorization', sigv4('AKIAEXAMPLE')], null],
  [['x-other', `see ${TOKEN} there`], null],
  [['cookie', TOKEN], null],
  [['cookie', `apikey=${TOKEN}`], null],
  [[], `token=Bearer%20${TOKEN}`],
  [[], `apikey=${TOKEN}x`],
  [[], 'apikey='],
])('finds no gateway token in headers %j and query %s', (headers, query) => {
  expect(findGatewayToken(headers, query, '')).toBeNull();
});

test('two different gateway tokens are a conflict in any position', () => {
  expect(findGatewayToken(['apikey', TOKEN, 'authorization', `Bearer ${OTHER}`], null, '')).toBe(CONFLICTING_TOKENS);
  expect(findGatewayToken(['x-api-key', TOKEN], `apikey=${OTHER}`, '')).toBe(CONFLICTING_TOKENS);
});

test("reports a signed-in user's JWT beside the gateway token, but no other key", () => {
  const jwt = 'Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln';
  expect(findGatewayToken(['authorization', jwt, 'apikey', TOKEN], null, '')).toMatchObject({ userJwt: jwt });
  expect(findGatewayToken(['authorization', 'Bearer sb_secret_1', 'apikey', TOKEN], null, '')).toMatchObject({
    userJwt: null,
  });
});

test.each([
  [`/bot${TOKEN}/getMe`, '/bot', '/getMe'],
  [`/bot${TOKEN}`, '/bot', ''],
  [`/file/bot${TOKEN}/a/b`, '/file/bot', '/a/b'],
])('finds the token in the path %s', (path, prefix, rest) => {
  expect(findGatewayToken([], null, path)).toEqual({
    gatewayToken: TOKEN,
    form: 'path',
    headerName: '',
    userJwt: null,
  });
  expect(removePathToken(path, prefix, TOKEN)).toBe(rest);
});

test.each([`/bot${TOKEN}x/getMe`, `/bot${TOKEN.toUpperCase()}/getMe`, `bot${TOKEN}/getMe`, '/getMe'])(
  'finds no token in the path %s',
  (path) => {
    expect(findGatewayToken([], null, path)).toBeNull();
    expect(removePathToken(path, '/bot', TOKEN)).toBe(path);
  },
);

test('two tokens in unusual places are a conflict; one twice is not', () => {
  expect(findGatewayToken(['x-a', TOKEN, 'x-b', OTHER], null, '')).toBe(CONFLICTING_TOKENS);
  expect(findGatewayToken(['x-a', TOKEN], `key=${OTHER}`, '')).toBe(CONFLICTING_TOKENS);
  expect(findGatewayToken([], `key=${TOKEN}`, `/bot${OTHER}/x`)).toBe(CONFLICTING_TOKENS);
  expect(findGatewayToken(['x-a', TOKEN], `key=${TOKEN}`, `/bot${TOKEN}/x`)).toMatchObject({ headerName: 'x-a' });
});

import { expect, test } from 'vitest';
import { CONFLICTING_TOKENS, findGatewayToken } from './find-gateway-token.js';

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
])('finds the gateway token in headers %j and query %s', (headers, query, form, headerName) => {
  expect(findGatewayToken(headers, query)).toEqual({ gatewayToken: TOKEN, form, headerName, userJwt: null });
});

test.each([
  [[], null],
  [['authorization', TOKEN], null],
  [['authorization', 'Bearer sk-live'], null],
  [['authorization', `Bearer ${TOKEN}0`], null],
  [['authorization', `Bearer ${TOKEN.toUpperCase()}`], null],
  [['authorization', basic(`${TOKEN}:password`)], null],
  [['authorization', basic(TOKEN)], null],
  [['authorization', `Basic ${'A'.repeat(5000)}`], null],
  [['authorization', sigv4('AKIAEXAMPLE')], null],
  [['x-other', TOKEN], null],
  [['cookie', `apikey=${TOKEN}`], null],
  [[], `token=${TOKEN}`],
  [[], `apikey=${TOKEN}x`],
  [[], 'apikey='],
])('finds no gateway token in headers %j and query %s', (headers, query) => {
  expect(findGatewayToken(headers, query)).toBeNull();
});

test('two different gateway tokens are a conflict in any position', () => {
  expect(findGatewayToken(['apikey', TOKEN, 'authorization', `Bearer ${OTHER}`], null)).toBe(CONFLICTING_TOKENS);
  expect(findGatewayToken(['x-api-key', TOKEN], `apikey=${OTHER}`)).toBe(CONFLICTING_TOKENS);
});

test("reports a signed-in user's JWT beside the gateway token, but no other key", () => {
  const jwt = 'Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln';
  expect(findGatewayToken(['authorization', jwt, 'apikey', TOKEN], null)).toMatchObject({ userJwt: jwt });
  expect(findGatewayToken(['authorization', 'Bearer sb_secret_1', 'apikey', TOKEN], null)).toMatchObject({
    userJwt: null,
  });
});

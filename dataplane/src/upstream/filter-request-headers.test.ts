import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Injection } from '../context/agent-context.js';
import { CONFLICTING_TOKENS, findGatewayToken } from './credentials/find-gateway-token.js';
import { injectCredential } from './credentials/inject-credential.js';
import { filterRequestHeaders } from './filter-request-headers.js';
import { createTestHeaderInjection } from './testing/upstream-and-injection-fixture.js';

const TOKEN = `acg_${'0123456789abcdef'.repeat(4)}`;
const buildUpstreamRequest = (headers: readonly string[], query: string | null, injection: Injection) => {
  const position = findGatewayToken(headers, query, '');
  if (position === null || position === CONFLICTING_TOKENS) throw new Error('no gateway token');
  const out = filterRequestHeaders(headers, injection);
  return { query: injectCredential(out, query, injection, position), headers: out };
};

test('drops hop-by-hop, gateway and credential headers of the request', () => {
  const headers = [
    ...['host', 'gw', 'content-length', '5', 'connection', 'keep-alive, X-Drop-Me , te', 'keep-alive', '5'],
    ...['proxy-connection', 'x', 'proxy-authorization', 'x', 'te', 'trailers', 'trailer', 'x', 'upgrade', 'h2c'],
    ...['transfer-encoding', 'chunked', 'expect', '100-continue', 'cookie', 'a=b', 'x-drop-me', '1'],
    ...['forwarded', 'for=1', 'x-forwarded-for', '1', 'x-forwarded-host', 'x', 'x-real-ip', '1'],
    ...['x-gateway-agent', 'me', 'x-gateway-other', 'x', 'authorization', `Bearer ${TOKEN}`, 'x-api-key', 'other'],
    ...['api-key', 'other', 'apikey', 'other', 'x-goog-api-key', 'other', 'accept-encoding', 'gzip, br'],
    ...['openai-organization', 'org-client', 'x-note', `my token is ${TOKEN}`],
    ...['content-type', 'application/json', 'anthropic-beta', 'a', 'anthropic-beta', 'b', 'user-agent', 'sdk/1'],
  ];
  const injection = createTestHeaderInjection({ dropHeaders: new Set(['openai-organization']) });
  expect(filterRequestHeaders(headers, injection)).toEqual([
    ...['content-type', 'application/json', 'anthropic-beta', 'a', 'anthropic-beta', 'b', 'user-agent', 'sdk/1'],
    ...['accept-encoding', 'identity'],
  ]);
});

test('Connection cannot remove the injected credential header', () => {
  const sent = buildUpstreamRequest(
    ['connection', 'authorization', 'authorization', `Bearer ${TOKEN}`],
    null,
    createTestHeaderInjection({}),
  );
  expect(sent.headers).toEqual(['accept-encoding', 'identity', 'authorization', 'Bearer real-credential']);
});

test('forwards header bytes above ASCII unchanged', () => {
  const [, value] = filterRequestHeaders(['x-name', 'Zoë ✓'], createTestHeaderInjection({}));
  expect(Buffer.from(value!, 'latin1').toString('utf8')).toBe('Zoë ✓');
});

test('injects the credential in the header form in which the token arrived', () => {
  const injection = createTestHeaderInjection({
    name: 'x-api-key',
    value: 'real',
    alternatives: new Map([['authorization', 'Bearer real']]),
  });
  expect(buildUpstreamRequest(['x-api-key', TOKEN], null, injection).headers).toEqual([
    ...['accept-encoding', 'identity', 'x-api-key', 'real'],
  ]);
  expect(buildUpstreamRequest(['authorization', `Bearer ${TOKEN}`], null, injection).headers).toEqual([
    ...['accept-encoding', 'identity', 'authorization', 'Bearer real'],
  ]);
});

test('the account’s own headers replace those of the client', () => {
  const injection = createTestHeaderInjection({
    name: 'x-secret',
    value: 'real',
    extraHeaders: [['openai-project', 'ours']],
    dropHeaders: new Set(['openai-project']),
  });
  const sent = buildUpstreamRequest(
    ['openai-project', 'theirs', 'x-secret', 'theirs', 'apikey', TOKEN],
    null,
    injection,
  );
  expect(sent.headers).toEqual(['accept-encoding', 'identity', 'openai-project', 'ours', 'x-secret', 'real']);
});

const OURS = 'oauth-2025-04-20';
test.each<[string, string[], string[]]>([
  ['absent', [], [OURS]],
  ['present', ['fine-grained-tool-streaming-2025-05-14'], [`fine-grained-tool-streaming-2025-05-14,${OURS}`]],
  ['with the member', [`a, ${OURS} ,b`], [`a, ${OURS} ,b`]],
  ['with members that only look like it', [`${OURS}-x, x-${OURS}`], [`${OURS}-x, x-${OURS},${OURS}`]],
  ['repeated', ['a', 'b,c', 'd'], [`a,b,c,d,${OURS}`]],
  ['repeated, with the member in the last one', ['a', '', OURS], [`a,${OURS}`]],
  ['empty', [''], [OURS]],
  ['holding the gateway token', [TOKEN], [OURS]],
])('appends to a list header of the client: %s', (_case, theirs, expected) => {
  const injection = createTestHeaderInjection({ appendHeaders: [['anthropic-beta', OURS]] });
  const lists = theirs.flatMap((list, i) => ['anthropic-beta', list, `x-${i}`, 'kept']);
  const { headers } = buildUpstreamRequest(['authorization', `Bearer ${TOKEN}`, ...lists], null, injection);
  expect(headers.filter((_, i) => headers[i - 1] === 'anthropic-beta')).toEqual(expected);
  expect(headers.filter((value) => value === 'kept')).toHaveLength(theirs.length);
});

test('a client that lists the header in Connection does not take away what the account appends', () => {
  const injection = createTestHeaderInjection({ appendHeaders: [['anthropic-beta', OURS]] });
  const { headers } = buildUpstreamRequest(
    ['connection', 'anthropic-beta', 'anthropic-beta', 'theirs', 'authorization', `Bearer ${TOKEN}`],
    null,
    injection,
  );
  expect(headers.slice(headers.indexOf('anthropic-beta'))).toEqual([
    ...['anthropic-beta', OURS, 'authorization', 'Bearer real-credential'],
  ]);
});

test.each([
  [null, 'teamId=ours'],
  ['teamId=theirs', 'teamId=ours'],
  ['a=1&team%49d=theirs&b=2&teamId=x', 'a=1&b=2&teamId=ours'],
])('the account’s own query parameter replaces that of %j: %j', (query, expected) => {
  const injection = createTestHeaderInjection({ extraQuery: [['teamId', 'teamId=ours']] });
  expect(buildUpstreamRequest(['authorization', `Bearer ${TOKEN}`], query, injection).query).toBe(expected);
});

test.each([
  [null, null],
  ['slug=theirs', null],
  ['a=1&sl%75g=theirs&b=2', 'a=1&b=2'],
])('removes a query parameter that the account forbids from %j: %j', (query, expected) => {
  const injection = createTestHeaderInjection({ extraQuery: [['slug', '']] });
  expect(buildUpstreamRequest(['authorization', `Bearer ${TOKEN}`], query, injection).query).toBe(expected);
});

test('forwards the JWT of a Supabase user and replaces any other Authorization', () => {
  const injection = createTestHeaderInjection({ name: 'apikey', value: 'real', bearerUnlessUserJwt: 'Bearer real' });
  const jwt = 'Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln';
  const after = ['accept-encoding', 'identity', 'apikey', 'real', 'authorization'];
  expect(buildUpstreamRequest(['apikey', TOKEN, 'authorization', jwt], null, injection).headers).toEqual([
    ...after,
    jwt,
  ]);
  expect(buildUpstreamRequest(['apikey', TOKEN, 'authorization', `Bearer ${TOKEN}`], null, injection).headers).toEqual([
    ...after,
    'Bearer real',
  ]);
  expect(buildUpstreamRequest(['apikey', TOKEN], null, injection).headers).toEqual([...after, 'Bearer real']);
});

test('replaces a token in ?apikey= in place for a provider that reads it there', () => {
  const injection = createTestHeaderInjection({
    name: 'apikey',
    value: 'real+key',
    bearerUnlessUserJwt: 'Bearer real+key',
  });
  expect(buildUpstreamRequest([], `vsn=1.0&apikey=${TOKEN}&x=%2F`, injection).query).toBe(
    'vsn=1.0&apikey=real%2Bkey&x=%2F',
  );
  expect(buildUpstreamRequest([], `apikey=${TOKEN}&apikey=${TOKEN}`, injection).query).toBe('apikey=real%2Bkey');
});

test.each([
  ['a=1&b=%20&c', 'a=1&b=%20&c'],
  ['', ''],
  ['a=1&apikey=other&b=2', 'a=1&b=2'],
  ['apikey=other', null],
  ['%61pikey=other&a', 'a'],
  [`note=${TOKEN}&a=1`, 'a=1'],
  ['X-Amz-Credential=theirs&X-Amz-Signature=1&a=1', 'a=1'],
])('forwards the query %j as %j', (query, expected) => {
  expect(buildUpstreamRequest(['authorization', `Bearer ${TOKEN}`], query, createTestHeaderInjection({})).query).toBe(
    expected,
  );
});

test.each([
  [null, 'key=real%2F'],
  ['', 'key=real%2F'],
  ['a=1', 'a=1&key=real%2F'],
  ['key=theirs&a=1', 'a=1&key=real%2F'],
])('injects a query credential into %j', (query, expected) => {
  const { name: _name, value: _value, ...base } = createTestHeaderInjection({});
  const injection: Injection = { ...base, kind: 'query', name: 'key', pair: 'key=real%2F' };
  expect(buildUpstreamRequest(['authorization', `Bearer ${TOKEN}`], query, injection).query).toBe(expected);
});

const credentialPlace = fc.constantFrom(
  ['authorization', `Bearer ${TOKEN}`],
  ['authorization', `Basic ${Buffer.from(`u:${TOKEN}`).toString('base64')}`],
  ['authorization', `AWS4-HMAC-SHA256 Credential=${TOKEN}/d/r/s3/aws4_request, Signature=0`],
  ['x-api-key', TOKEN],
  ['api-key', TOKEN],
  ['apikey', TOKEN],
  ['x-goog-api-key', TOKEN],
  ['x-note', `${TOKEN} again`],
  ['cookie', TOKEN],
  ['accept', '*/*'],
);
const queryPlace = fc.constantFrom(
  `apikey=${TOKEN}`,
  `X-Amz-Credential=${TOKEN}%2Fx`,
  `other=${TOKEN}`,
  `${TOKEN}`,
  'plain=1',
);

test('never forwards the gateway token, wherever the client puts it', () => {
  const injections: Injection[] = [
    createTestHeaderInjection({}),
    createTestHeaderInjection({ name: 'apikey', bearerUnlessUserJwt: 'Bearer real-credential' }),
    { ...createTestHeaderInjection({}), kind: 'basic', value: 'Basic cmVhbA==' },
  ];
  fc.assert(
    fc.property(
      fc.array(credentialPlace, { maxLength: 6 }),
      fc.array(queryPlace, { maxLength: 4 }),
      fc.constantFrom(...injections),
      (places, params, injection) => {
        const headers = ['apikey', TOKEN, ...places.flat()];
        const sent = buildUpstreamRequest(headers, params.length === 0 ? null : params.join('&'), injection);
        const wire = `${sent.headers.join('\n')}\n${sent.query ?? ''}`;
        expect(wire).not.toContain(TOKEN);
        expect(wire).not.toContain(Buffer.from(TOKEN).toString('base64').slice(4, 40));
        const authorizations = sent.headers.filter((text, i) => i % 2 === 0 && text === 'authorization');
        expect(authorizations.length).toBe(1);
      },
    ),
  );
});

test('drops any other header that contains the gateway token', () => {
  for (const value of [TOKEN, `x${TOKEN}`, `${TOKEN}x`]) {
    expect(filterRequestHeaders(['x-note', value], createTestHeaderInjection({}))).toEqual([
      'accept-encoding',
      'identity',
    ]);
  }
  const shorter = TOKEN.slice(0, -1);
  expect(filterRequestHeaders(['x-note', shorter], createTestHeaderInjection({}))).toContain(shorter);
});

test.each([
  ...['Algorithm', 'Credential', 'Date', 'Expires', 'SignedHeaders', 'Signature'],
  ...['Security-Token', 'Content-Sha256'],
])('drops X-Amz-%s of the client’s own signature', (name) => {
  const query = `a=1&X-Amz-${name}=mine&b=2`;
  expect(buildUpstreamRequest(['authorization', `Bearer ${TOKEN}`], query, createTestHeaderInjection({})).query).toBe(
    'a=1&b=2',
  );
  expect(
    buildUpstreamRequest(['authorization', `Bearer ${TOKEN}`], query.toLowerCase(), createTestHeaderInjection({}))
      .query,
  ).toBe('a=1&b=2');
});

test('always forwards the entries of loop detection', () => {
  const headers = ['cdn-loop', 'acg-1', 'connection', 'cdn-loop', 'cdn-loop', 'other'];
  const injection = createTestHeaderInjection({ name: 'cdn-loop', dropHeaders: new Set(['cdn-loop']) });
  expect(filterRequestHeaders(headers, injection)).toEqual([
    ...['cdn-loop', 'acg-1', 'cdn-loop', 'other'],
    ...['accept-encoding', 'identity'],
  ]);
});

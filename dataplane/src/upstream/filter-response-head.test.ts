import { expect, test } from 'vitest';
import { filterResponseHead } from './filter-response-head.js';
import { compileMaskPatterns } from './masking/credential-mask.js';

const filterHead = (raw: readonly string[], secretForms: readonly string[]) =>
  filterResponseHead(raw, compileMaskPatterns(secretForms));

test('forwards all response headers except hop-by-hop fields, cookies and gateway headers', () => {
  const head = filterHead(
    [
      ...['Content-Type', 'Text/Event-Stream; charset=utf-8', 'Connection', 'keep-alive, X-Hop', 'X-Hop', '1'],
      ...['Keep-Alive', 'timeout=5', 'Transfer-Encoding', 'chunked', 'Set-Cookie', 'a=b', 'Set-Cookie2', 'c=d'],
      ...['Date', 'x', 'Trailer', 'x', 'Upgrade', 'h2', 'Proxy-Authenticate', 'x', 'X-Gateway-Request-Id', 'forged'],
      ...['X-RateLimit-Limit', '60', 'Location', '/x', 'ETag', '"1"', 'Vary', 'a', 'Vary', 'b'],
    ],
    [],
  );
  expect(head).toEqual({
    headers: [
      ...['content-type', 'Text/Event-Stream; charset=utf-8', 'x-ratelimit-limit', '60', 'location', '/x'],
      ...['etag', '"1"', 'vary', 'a', 'vary', 'b'],
    ],
    contentLength: -1,
    mediaType: 'text/event-stream',
    contentEncoding: '',
    urlHeaderIndexes: [4],
  });
});

test('reads length and encoding, and keeps bytes above ASCII', () => {
  const head = filterHead(['content-length', '42', 'content-encoding', 'GZIP', 'x-name', 'Zo\xeb'], []);
  expect(head.contentLength).toBe(42);
  expect(head.contentEncoding).toBe('gzip');
  expect(head.headers).toEqual(['content-encoding', 'GZIP', 'x-name', Buffer.from('Zo\xeb', 'latin1')]);
});

test('drops a name or value that could split the response', () => {
  const head = filterHead(
    ['x-a', 'b\r\nset-cookie: c', 'x-b', 'a\nb', 'x-c', 'a\0b', 'x d', '1', '', '1', 'x-e', 'ok\t1', 'x-f', '\x7f'],
    [],
  );
  expect(head.headers).toEqual(['x-e', 'ok\t1']);
});

test('masks an echoed credential in every value', () => {
  const head = filterHead(['www-authenticate', 'Bearer error="sk-real" sk-real'], ['sk-real']);
  expect(head.headers).toEqual(['www-authenticate', 'Bearer error="*******" *******']);
});

test('drops a header whose name contains the credential, in any case', () => {
  const raw = ['Secret-Key-0123', 'v', 'x-SECRET-key-0123-x', 'v', 'secret-key-012', 'v'];
  expect(filterHead(raw, ['Secret-Key-0123']).headers).toEqual(['secret-key-012', 'v']);
});

test('drops headers that apply to the whole origin or command a front proxy', () => {
  const names = ['Alt-Svc', 'Strict-Transport-Security', 'Clear-Site-Data', 'Refresh', 'Public-Key-Pins', 'Expect-CT'];
  const more = [
    'Report-To',
    'Reporting-Endpoints',
    'NEL',
    'Service-Worker-Allowed',
    'Origin-Agent-Cluster',
    'Accept-CH',
  ];
  const proxies = ['X-Accel-Redirect', 'X-Sendfile', 'X-Reproxy-URL', 'X-LIGHTTPD-send-file', 'X-LiteSpeed-Location'];
  const raw = [...names, ...more, 'Set-Login', 'Use-As-Dictionary', ...proxies].flatMap((name) => [name, 'v']);
  const kept = [
    'content-security-policy',
    'x',
    'permissions-policy',
    'x',
    'access-control-allow-origin',
    '*',
    'link',
    'x',
  ];
  expect(filterHead([...raw, ...kept], []).headers).toEqual(kept);
});

test.each(['', 'x', '4x', '-1', '+4', '1e3', '0x10', '4, 4', '9'.repeat(16)])(
  'ignores a Content-Length of %j',
  (value) => {
    expect(filterHead(['content-length', value], []).contentLength).toBe(-1);
    expect(filterHead(['content-length', '7', 'content-length', value], []).contentLength).toBe(7);
  },
);

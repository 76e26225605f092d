/** How the control plane serves the dashboard: CSP, caching, compression, and the paths it answers. */
import { expect, test } from 'vitest';
import { useControlPlane } from '../fixtures/control-plane.js';

const plane = useControlPlane();
const page = (path: string, accept = 'text/html,*/*') => fetch(plane().url + path, { headers: { accept } });
const nonceOf = (html: string): string => /property="csp-nonce" nonce="([^"]+)"/.exec(html)![1]!;

test('serves the page uncached with a CSP nonce per response', async () => {
  const responses = await Promise.all([page('/'), page('/')]);
  const nonces = await Promise.all(
    responses.map(async (response) => {
      const nonce = nonceOf(await response.text());
      expect([response.status, response.headers.get('cache-control')]).toEqual([200, 'no-store']);
      expect(response.headers.get('content-security-policy')).toBe(
        `default-src 'none'; script-src 'self'; style-src 'self' 'nonce-${nonce}'; img-src 'self' data:; ` +
          "font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
      );
      return nonce;
    }),
  );
  expect(nonces[0]).toMatch(/^[\w+/]{22}==$/);
  expect(nonces[0]).not.toBe(nonces[1]);
});

test('serves assets as immutable and precompressed', async () => {
  const script = /src="(\/assets\/[^"]+\.js)"/.exec(await (await page('/')).text())![1]!;
  const response = await fetch(plane().url + script, { headers: { 'accept-encoding': 'br' } });
  expect([response.status, response.headers.get('content-encoding')]).toEqual([200, 'br']);
  expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
  expect(response.headers.get('content-type')).toContain('javascript');
  expect(await response.text()).toContain('createRoot');
});

test('serves the page to browsers for every path of the dashboard', async () => {
  for (const path of ['/agents', '/agents/x?tab=keys', '/statuses', '/v1x']) {
    const response = await page(path);
    expect([path, response.status, response.headers.get('content-type')]).toEqual([
      path,
      200,
      'text/html; charset=utf-8',
    ]);
  }
});

test('returns 404 to programs, other methods and reserved paths', async () => {
  const own = ['/v1', '/v1/nothing', '/docs/nothing', '/status/x', '/healthz/x', '/device/x', '/assets/nothing.js'];
  for (const path of [...own, '/metrics/x', '/readyz/x', '/verify-email/x', '/reset-password/x']) {
    expect([path, (await page(path)).status]).toEqual([path, 404]);
  }
  expect((await page('/agents', 'application/json')).status).toBe(404);
  expect((await fetch(`${plane().url}/agents`, { method: 'POST', headers: { accept: 'text/html' } })).status).toBe(404);
});

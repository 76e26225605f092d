/** A control plane serves the API document as JSON, as a page and as text for language models. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { useControlPlane } from '../fixtures/control-plane.js';

const source = readFileSync(new URL('../../../controlplane/openapi.json', import.meta.url), 'utf8');
const plane = useControlPlane({ PUBLIC_URL: 'https://gw.example.org/under' });

test('a control plane serves the document with its own URL and a cache lifetime', async () => {
  const { status, body, headers } = await plane().call('GET', '/v1/openapi.json');
  expect(status).toBe(200);
  expect(body).toEqual({ ...JSON.parse(source), servers: [{ url: 'https://gw.example.org/under' }] });
  expect(headers.get('cache-control')).toBe('public, max-age=300');
});

test('/docs contains every operation, event and type, working links and no external resource', async () => {
  const response = await fetch(`${plane().url}/docs`);
  const html = await response.text();
  const policy = response.headers.get('content-security-policy')!;
  expect(policy).toMatch(/^default-src 'none'; style-src 'sha256-[^']+'; base-uri 'none'/);
  const [, style] = /<style>([\s\S]*?)<\/style>/.exec(html)!;
  expect(policy).toContain(createHash('sha256').update(style!).digest('base64'));
  expect(html).not.toMatch(/<script|<img|<link|style="|\son\w+="|url\(/);
  const document = JSON.parse(source);
  const ids = [...html.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id!);
  expect(new Set(ids).size).toBe(ids.length);
  const operations = [...source.matchAll(/"operationId": "([^"]+)"/g)].map(([, id]) => id);
  const types = Object.keys(document.components.schemas).map((name) => `type-${name}`);
  expect(ids).toEqual(expect.arrayContaining([...operations, ...types]));
  expect(html.match(/<summary>Example<\/summary>/g)!.length).toBeGreaterThan(operations.length);
  expect(html).toContain('sk-example-not-a-real-key');
  const targets = [...html.matchAll(/href="#([^"]+)"/g)].map(([, target]) => target);
  expect(targets.filter((target) => !ids.includes(target!))).toEqual([]);
  const elsewhere = [...html.matchAll(/href="([^"#][^"]*)"/g)].map(([, href]) => href);
  expect(elsewhere).toEqual(['v1/openapi.json', 'llms.txt']);
});

test('/llms.txt names every operation and where the rest is', async () => {
  const { body, headers } = await plane().call('GET', '/llms.txt');
  expect(headers.get('content-type')).toBe('text/plain; charset=utf-8');
  for (const [path, methods] of Object.entries(JSON.parse(source).paths as Record<string, object>)) {
    for (const method of Object.keys(methods)) expect(body).toContain(`- ${method.toUpperCase()} ${path} (`);
  }
  expect(body).toContain('https://gw.example.org/under/v1/openapi.json');
});

/** Custom providers: every way of sending the credential, checked at the provider and at the agent. */
import { request } from 'node:http';
import type { IInjection, IUpstream } from '@acg/proto/messages';
import { type ReceivedRequest, StandInProvider } from '@acg/stand-in-provider/stand-in-provider';
import { jsonResponse, type StandInResponse } from '@acg/stand-in-provider/stand-in-response';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { InProcessGateway } from './in-process-gateway.js';

/** Responds with the request that it received. */
class EchoProvider extends StandInProvider {
  protected override respond({ method, target, headers, body }: ReceivedRequest): StandInResponse {
    if (target.endsWith('/moved')) {
      return jsonResponse(307, {}, [['location', `${this.origin}/base/v1/here?x=1`]]);
    }
    return jsonResponse(200, { method, target, headers, body: body.toString('latin1') }, [
      ['x-seen', JSON.stringify(headers)],
    ]);
  }
}

const SECRET = 'custom/secret+with=bytes&more';
const INJECTIONS: Readonly<Record<string, IInjection>> = {
  bearer: { header: { name: 'authorization', prefix: 'Bearer ', secret: SECRET } },
  header: { header: { name: 'x-service-key', prefix: 'Key ', secret: SECRET } },
  basic: { basic: { username: 'service-user', password: SECRET } },
  query: { query: { name: 'service key', secret: SECRET } },
  none: { none: {} },
};

let provider: EchoProvider;
let gateway: InProcessGateway;

beforeAll(async () => {
  provider = await new EchoProvider().start();
  const upstream = (injection: IInjection): Partial<IUpstream> => ({ injection, basePath: '/base' });
  gateway = await InProcessGateway.start(
    Object.entries(INJECTIONS).map(([slug, injection]) => ({
      slug,
      origin: provider.origin,
      credentials: {},
      upstream: upstream(injection),
    })),
  );
});
afterAll(async () => {
  await gateway.stop();
  await provider.close();
});
beforeEach(() => {
  provider.requests.length = 0;
});

function call(slug: string, target: string, init: RequestInit = {}): Promise<Response> {
  const { baseUrl, key } = gateway.route(slug);
  return fetch(baseUrl + target, {
    redirect: 'manual',
    ...init,
    headers: { authorization: `Bearer ${key}`, ...(init.headers as Record<string, string> | undefined) },
  });
}

/** Sends the target unchanged; `fetch` would resolve dot segments itself. */
function rawStatus(slug: string, target: string): Promise<number> {
  const { baseUrl, key } = gateway.route(slug);
  const { hostname, port, pathname } = new URL(baseUrl);
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${key}` };
    request({ hostname, port, path: pathname + target, headers }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    })
      .on('error', reject)
      .end();
  });
}

test.each([
  ['bearer', { authorization: `Bearer ${SECRET}` }, '/base/v1/x?a=b'],
  ['header', { 'x-service-key': `Key ${SECRET}` }, '/base/v1/x?a=b'],
  ['basic', { authorization: `Basic ${Buffer.from(`service-user:${SECRET}`).toString('base64')}` }, '/base/v1/x?a=b'],
  ['query', {}, `/base/v1/x?a=b&service%20key=${encodeURIComponent(SECRET)}`],
  ['none', {}, '/base/v1/x?a=b'],
])('custom provider, %s: the provider gets exactly its credential', async (slug, headers, target) => {
  const theirs = { 'x-service-key': 'mine', 'x-api-key': 'mine' };
  expect((await call(slug, '/v1/x?a=b&apikey=mine', { headers: theirs })).status).toBe(200);
  expect(provider.lastRequest.target).toBe(target);
  expect(provider.lastRequest.headers).toMatchObject(headers);
  const credentialHeaders = Object.keys(provider.lastRequest.headers).filter((name) => /auth|key|cookie/.test(name));
  expect(credentialHeaders.filter((name) => name in headers)).toEqual(Object.keys(headers));
  if (slug !== 'header') expect(provider.lastRequest.headers['x-service-key']).toBe('mine');
  expect(provider.lastRequest.headers['x-api-key']).toBeUndefined();
});

describe.each(Object.keys(INJECTIONS).filter((slug) => slug !== 'none'))('custom provider, %s', (slug) => {
  test('an echoed credential comes back masked in every form', async () => {
    const answer = await call(slug, '/v1/x');
    const seen = (await answer.text()) + [...answer.headers.values()].join();
    for (const form of [SECRET, encodeURIComponent(SECRET), Buffer.from(`service-user:${SECRET}`).toString('base64')]) {
      expect(seen).not.toContain(form);
    }
    expect(seen).toContain('*'.repeat(SECRET.length));
  });
});

test('custom provider: a redirect to itself points to the proxy and is not followed', async () => {
  const answer = await call('bearer', '/moved');
  expect(answer.status).toBe(307);
  expect(answer.headers.get('location')).toBe('/v1/proxy/bearer/v1/here?x=1');
  expect(provider.requests).toHaveLength(1);
});

test.each(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])(
  'custom provider: %s passes',
  async (method) => {
    const answer = await call('bearer', '/v1/x', { method });
    expect(answer.status).toBe(200);
    expect(provider.lastRequest).toMatchObject({ method, target: '/base/v1/x' });
  },
);

test('custom provider: accepts the token in each header that SDKs use', async () => {
  const { baseUrl, key } = gateway.route('bearer');
  const basic = (pair: string): Record<string, string> => ({ authorization: `Basic ${btoa(pair)}` });
  const places: [string, Record<string, string>][] = [
    ['', { authorization: `Bearer ${key}` }],
    ['', basic(`anybody:${key}`)],
    ['', basic(`${key}:`)],
    ...['x-api-key', 'api-key', 'apikey', 'x-goog-api-key'].map((name): [string, Record<string, string>] => [
      '',
      { [name]: key },
    ]),
    [`?apikey=${key}`, {}],
  ];
  for (const [query, headers] of places) {
    const answer = await fetch(`${baseUrl}/v1/x${query}`, { headers });
    expect(answer.status).toBe(200);
    expect(provider.lastRequest.target).toBe('/base/v1/x');
    expect(provider.lastRequest.headers.authorization).toBe(`Bearer ${SECRET}`);
    expect(provider.lastRequest.rawHeaders.join()).not.toContain('acg_');
  }
});

test('custom provider: path traversal cannot leave the base path', async () => {
  for (const path of ['/%2e%2e/admin', '/v1/%2E%2E/%2e%2e/x', '/..%2fadmin', '/a/..%5cadmin', '/..;/admin']) {
    expect(await rawStatus('bearer', path)).toBe(400);
  }
  expect(provider.requests).toHaveLength(0);
  expect(await rawStatus('bearer', '//evil.example/x')).toBe(200);
  expect(provider.lastRequest.target).toBe('/base//evil.example/x');
});

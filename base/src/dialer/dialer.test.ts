import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { NameResolutionError } from '../dns/name-resolver-interface.js';
import type { ResolvedAddress } from '../egress/check-tenant-url.js';
import { CidrList } from '../egress/cidr-list.js';
import { checkEgress } from '../egress/egress-guard.js';
import { Dialer } from './dialer.js';
import { createUndiciAgent } from './undici-connector.js';

let server: Server;
let port = 0;
let served = 0;

beforeAll(async () => {
  server = createServer((request, response) => {
    served++;
    if (request.url === '/redirect') response.writeHead(302, { location: '/secret' });
    response.end('secret');
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  port = (server.address() as AddressInfo).port;
});
afterAll(() => server.close());

const one = (address: string): readonly ResolvedAddress[] => [{ address, family: address.includes(':') ? 6 : 4 }];
const never = async (): Promise<readonly ResolvedAddress[]> => {
  throw new Error('a literal address is not resolved');
};
const agentWith = (
  resolve: (host: string) => Promise<readonly ResolvedAddress[]>,
  allowCidrs: readonly string[],
  connectTimeoutMs = 2_000,
) => {
  const operatorNames = { resolve: never };
  return createUndiciAgent(
    new Dialer({ allowCidrs, connectTimeoutMs, tenantNames: { resolve }, operatorNames }),
    'org-1',
  );
};
const call = async (
  origin: string,
  allowCidrs: readonly string[],
  resolve: (host: string) => Promise<readonly ResolvedAddress[]>,
  path = '/',
) => {
  const agent = agentWith(resolve, allowCidrs);
  try {
    const answer = await agent.request({ origin, path, method: 'GET' });
    return { status: answer.statusCode, body: await answer.body.text() };
  } finally {
    await agent.close();
  }
};

test.each(['127.0.0.1', '[::ffff:127.0.0.1]', '[::1]', '2130706433', '0x7f.1'])(
  'dialer: does not connect to the literal %s',
  async (host) => {
    const before = served;
    const url = new URL(`http://${host}:${port}`);
    await expect(call(url.origin, [], never)).rejects.toMatchObject({ code: 'EGRESS_REFUSED' });
    expect(served).toBe(before);
  },
);

test('dialer: does not connect to a name with a private address, even beside public ones', async () => {
  const before = served;
  for (const answers of [one('127.0.0.1'), [...one('93.184.216.34'), ...one('127.0.0.1')], []]) {
    await expect(call(`http://api.example.com:${port}`, [], async () => answers)).rejects.toMatchObject({
      code: 'EGRESS_REFUSED',
    });
  }
  expect(served).toBe(before);
});

test('dialer: resolves the name once per connect and dials that answer', async () => {
  let lookups = 0;
  const rebinding = async (): Promise<readonly ResolvedAddress[]> => one(++lookups === 1 ? '127.0.0.1' : '10.0.0.1');
  expect(await call(`http://rebind.example.com:${port}`, ['127.0.0.0/8'], rebinding)).toMatchObject({ status: 200 });
  expect(lookups).toBe(1);
});

test('dialer: returns a redirect and does not follow it', async () => {
  const before = served;
  const answer = await call(`http://127.0.0.1:${port}`, ['127.0.0.0/8'], never, '/redirect');
  expect(answer.status).toBe(302);
  expect(served).toBe(before + 1);
});

test('dialer: dials the next checked address when one does not answer', async () => {
  const answers = [...one('::1'), ...one('127.0.0.1')];
  const answer = await call(`http://two.example.com:${port}`, ['127.0.0.0/8', '::1/128'], async () => answers);
  expect(answer).toEqual({ status: 200, body: 'secret' });
});

test('dialer: reports failures of the resolver and of the network with their own codes', async () => {
  await expect(
    call('http://nowhere.example.com', [], async () =>
      Promise.reject(new NameResolutionError('nowhere.example.com', 'ENOTFOUND')),
    ),
  ).rejects.toMatchObject({ code: 'ENOTFOUND' });
  await expect(call('http://127.0.0.1:1', ['127.0.0.0/8'], never)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
});

test('dialer: a name that never resolves fails with the connect timeout', async () => {
  const agent = agentWith(() => new Promise(() => {}), [], 20);
  await expect(agent.request({ origin: 'http://slow.example.com', path: '/', method: 'GET' })).rejects.toMatchObject({
    code: 'ETIMEDOUT',
  });
  await agent.destroy();
});

test.each([
  ['api.example.com', 443, ['93.184.216.34'], null],
  ['api.example.com', 22, ['93.184.216.34'], 'port 22'],
  ['localhost', 443, ['93.184.216.34'], 'not a public name'],
  ['mixed.example.com', 443, ['93.184.216.34', '127.0.0.1'], null],
  ['mixed.example.com', 6379, ['93.184.216.34', '127.0.0.1'], 'port 6379'],
  ['localhost', 6379, ['127.0.0.1'], null],
  ['api.example.com', 443, ['64:ff9b::a00:1'], 'not a public address'],
  ['api.example.com', 443, ['10.0.0.1'], 'not a public address'],
])('dialer: checks %s:%i with addresses %j', (host, at, answers, problem) => {
  const blockedReason = checkEgress(host, at, answers.flatMap(one), new CidrList(['127.0.0.0/8']));
  if (problem === null) expect(blockedReason).toBeNull();
  else expect(blockedReason).toContain(problem);
});

import { expect, test } from 'vitest';
import { checkTenantUrl, type ResolvedAddress } from './check-tenant-url.js';

const PUBLIC: readonly ResolvedAddress[] = [{ address: '93.184.216.34', family: 4 }];
const names = (answers: Record<string, readonly string[]>) => async (host: string) => {
  const found = answers[host];
  if (found === undefined) throw new Error(`ENOTFOUND ${host}`);
  return found.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
};
const check = (raw: string, allowCidrs: readonly string[] = [], resolve = async () => PUBLIC) =>
  checkTenantUrl(raw, { allowCidrs, resolve });

test.each([
  'https://api.example.com',
  'https://api.example.com/base/path?x=1',
  'http://api.example.com:8080/v1',
  'https://api.example.com.',
  'https://8.8.8.8/x',
  'https://[2606:4700:4700::1111]/x',
  'HTTPS://API.EXAMPLE.COM/',
])('tenant URL: accepts %s', async (raw) => {
  expect(await check(raw)).toBeNull();
});

test.each([
  // special IPv4 ranges
  ...['0.0.0.0', '10.1.2.3', '100.64.0.1', '127.0.0.1', '127.255.1.2', '169.254.169.254', '172.16.0.1', '172.31.9.9'],
  ...['192.0.0.8', '192.0.2.1', '192.88.99.1', '192.168.1.1', '198.18.0.1', '198.19.255.255', '198.51.100.7'],
  ...['203.0.113.9', '224.0.0.1', '240.0.0.1', '255.255.255.255', '168.63.129.16'],
  // other notations of a number, which the URL parser converts to an address
  ...['2130706433', '0x7f000001', '017700000001', '127.1', '0x7f.1', '0177.0.0.1', '127.0.0.1.', '127.000.000.001'],
  // IPv6
  ...['[::1]', '[::]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[::7f00:1]', '[::ffff:0:127.0.0.1]'],
  ...['[64:ff9b::7f00:1]', '[64:ff9b:1::1]', '[2002:7f00:1::]', '[2001:0:7f00:1::]', '[fd00:ec2::254]', '[fc00::1]'],
  ...[
    '[fe80::1]',
    '[fec0::1]',
    '[2001:db8::1]',
    '[3fff::1]',
    '[100::1]',
    '[4000::1]',
    '[ff02::1]',
    '[2620:4f:8000::1]',
  ],
  // names
  ...['localhost', 'a.localhost', 'localhost.', 'intranet', 'db', 'x.internal', 'metadata.google.internal', 'x.local'],
  ...['kubernetes.default.svc', 'svc.cluster.local', '1.0.0.127.in-addr.arpa', 'x.home', 'x.lan', 'x.corp', 'x.test'],
])('tenant URL: rejects https://%s', async (host) => {
  expect(await check(`https://${host}/`)).not.toBeNull();
});

test.each([
  ['ftp://api.example.com/', 'https://'],
  ['file:///etc/passwd', 'https://'],
  ['javascript:alert(1)', 'https://'],
  ['//api.example.com', 'https://'],
  ['https:/api.example.com', 'https://'],
  ['https:///api.example.com', 'https://'],
  ['https:api.example.com', 'https://'],
  ['https://', 'https://'],
  ['', 'https://'],
  ['https://user:pw@api.example.com/', 'user name'],
  ['https://api.example.com@127.0.0.1/', 'user name'],
  ['https://@api.example.com/', 'user name'],
  ['https://api.example.com\\@127.0.0.1/', 'backslashes'],
  ['https://api.example.com/\t', 'control'],
  ['https://api.exa\nmple.com/', 'control'],
  ['https://api.example.com/\r\nHost: x', 'control'],
  [' https://api.example.com/', 'spaces'],
  ['https://①②⑦.0.0.1/', 'ASCII'],
  ['https://127。0。0。1/', 'ASCII'],
  ['https://127．0．0．1/', 'ASCII'],
  ['https://%6c%6f%63alhost/', 'percent'],
  ['https://127.0.0.1%2f.example.com/', 'URL'],
  ['https://[fe80::1%25eth0]/', 'URL'],
  ['https://api.example.com/#x', 'fragment'],
  ['https://api.example.com:22/', 'port 22'],
  ['https://api.example.com:6379/', 'port 6379'],
  ['https://api.example.com:99999/', 'URL'],
  ['https://exa mple.com', 'spaces'],
  ['https://a..b:x/', 'URL'],
  [`https://api.example.com/${'a'.repeat(2100)}`, '2048'],
])('tenant URL: rejects the text %j', async (raw, part) => {
  expect(await check(raw)).toContain(part);
});

test('tenant URL: rejects a name with any address that is not public', async () => {
  const resolve = names({
    'rebind.example.com': ['93.184.216.34', '10.0.0.1'],
    '127.0.0.1.nip.io': ['127.0.0.1'],
    'six.example.com': ['fd00::1'],
    'good.example.com': ['93.184.216.34', '2606:4700:4700::1111'],
  });
  for (const host of ['rebind.example.com', '127.0.0.1.nip.io', 'six.example.com']) {
    expect(await checkTenantUrl(`https://${host}/`, { allowCidrs: [], resolve })).toContain('not a public address');
  }
  expect(await checkTenantUrl('https://good.example.com/', { allowCidrs: [], resolve })).toBeNull();
  expect(await checkTenantUrl('https://unknown.example.com/', { allowCidrs: [], resolve })).toBeNull();
});

test('tenant URL: allowed ranges lift the range, name and port rules for their own addresses only', async () => {
  const allow = ['127.0.0.0/8', 'fd00::/8'];
  const resolve = names({
    localhost: ['::1', '127.0.0.1'],
    db: ['fd00::1'],
    both: ['127.0.0.1', '10.0.0.1'],
    'mix.io': ['127.0.0.1', '8.8.8.8'],
  });
  const at = (raw: string) => checkTenantUrl(raw, { allowCidrs: allow, resolve });
  for (const raw of ['http://127.0.0.1:9001/x', 'http://localhost:1234', 'https://db:22', 'https://mix.io/']) {
    expect(await at(raw)).toBeNull();
  }
  expect(await at('http://10.0.0.1:9001/')).toContain('port');
  expect(await at('http://10.0.0.1/')).toContain('not a public address');
  expect(await at('http://both/')).not.toBeNull();
  expect(await at('http://mix.io:22/')).toContain('port 22');
  expect(await at('http://user@127.0.0.1/')).toContain('user name');
});

test('tenant URL: httpsOnly rejects http, except in allowed ranges', async () => {
  const options = { allowCidrs: ['127.0.0.0/8'], httpsOnly: true, resolve: async () => PUBLIC };
  expect(await checkTenantUrl('http://api.example.com/', options)).toBe('must start with https://');
  expect(await checkTenantUrl('http://127.0.0.1:80/', options)).toBeNull();
});

test('tenant URL: checks internationalized names in their ASCII form', async () => {
  const resolve = names({ 'xn--bcher-kva.de': ['93.184.216.34'], 'xn--intern-cua.de': ['10.0.0.1'] });
  const check = (url: string) => checkTenantUrl(url, { allowCidrs: [], resolve });
  expect(await check('https://bücher.de/v1')).toBeNull();
  expect(await check('https://xn--bcher-kva.de/v1')).toBeNull();
  expect(await check('https://bücher.localhost/')).toContain('not a public name');
  expect(await check('https://bücher.de/ü')).toContain('after its host');
  expect(await check(`https://${new URL('https://xn--intern-cua.de').host}/`)).toContain('not a public address');
});

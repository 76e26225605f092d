import { expect, test } from 'vitest';
import { parseRedisAddress } from './redis-address.js';

const shown = (text: string) => {
  const address = parseRedisAddress(text);
  return address === null ? null : { urls: address.urls.map(String), sentinel: address.sentinel };
};

test('redis address: parses one server, and the nodes of a cluster', () => {
  expect(shown('redis://me:pw@host:6379/3')).toEqual({ urls: ['redis://me:pw@host:6379/3'], sentinel: null });
  expect(shown('rediss://a:1, rediss://b:2,')).toEqual({ urls: ['rediss://a:1', 'rediss://b:2'], sentinel: null });
});

test('redis address: parses a Sentinel group, and reads the scheme before the commas', () => {
  expect(shown('redis+sentinel://h1:26379,h2:26380/mymaster/0?sentinelPassword=s%2Cp')).toEqual({
    urls: ['redis://mymaster/0'],
    sentinel: {
      hosts: [
        { host: 'h1', port: 26_379 },
        { host: 'h2', port: 26_380 },
      ],
      name: 'mymaster',
      username: null,
      password: 's,p',
    },
  });
  expect(shown('rediss+sentinel://me:p%40w@[::1]:7,h2/group?sentinelUsername=su&sentinelPassword=sp')).toEqual({
    urls: ['rediss://me:p%40w@group/0'],
    sentinel: {
      hosts: [
        { host: '::1', port: 7 },
        { host: 'h2', port: 26_379 },
      ],
      name: 'group',
      username: 'su',
      password: 'sp',
    },
  });
});

test.each([
  'http://host',
  'redis://a:1,http://b:2',
  'redis+sentinel://h1:26379',
  'redis+sentinel:///mymaster',
  'redis+sentinel://h1,/mymaster',
  'redis+sentinel://h1:port/mymaster',
  'redis+sentinel://h1/mymaster/0/1',
  'redis+sentinel://h1/mymaster?sentinelpassword=x',
  'redis+sentinel://h1/mymaster,redis://b:1',
  'sentinel://h1/mymaster',
  ',',
])('redis address: rejects %s', (text) => {
  expect(shown(text)).toBeNull();
});

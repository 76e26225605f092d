/** Metadata of MCP servers and authorization servers: addresses, challenges, and what does not pass. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  listResourceMetadataUrls,
  listServerMetadataUrls,
  parseChallenge,
  readResourceMetadata,
  readServerMetadata,
  readUrl,
} from './server-metadata.js';

const HTTPS = { allowsHttp: false };

test.each([
  ['Bearer resource_metadata="https://a/b", scope="x y"', 'https://a/b', 'x y'],
  ['bearer scope=x', null, 'x'],
  ['Basic realm="a, Bearer scope=\\"no\\"", Bearer scope="yes"', null, 'yes'],
  ['Negotiate abc==, Bearer scope="yes"', null, 'yes'],
  ['Bearer scope="a", DPoP scope="b", resource_metadata="https://evil"', null, 'a'],
  ['Bearer scope="a", scope="b"', null, 'a'],
  ['Bearer scope="a\\\\"', null, null],
  ['DPoP resource_metadata="https://evil"', null, null],
  ['Bearer', null, null],
  ['', null, null],
])('challenge: %s', (header, resourceMetadata, scope) => {
  expect(parseChallenge(header)).toEqual({ resourceMetadata, scope });
});

test('challenge: any header is read, in linear time', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('a', ' ', ',', '=', '"', '\\', 'Bearer ') }), (text) => {
      expect(() => parseChallenge(text)).not.toThrow();
    }),
  );
  for (const unit of [' ', ',', 'a', '"', '\\', 'a=', 'Bearer ']) parseChallenge(unit.repeat(100_000));
});

test('addresses of metadata, in the order of the specification', () => {
  expect(listResourceMetadataUrls('https://mcp.example.com/a/mcp')).toEqual([
    'https://mcp.example.com/.well-known/oauth-protected-resource/a/mcp',
    'https://mcp.example.com/.well-known/oauth-protected-resource',
  ]);
  expect(listResourceMetadataUrls('https://mcp.example.com/')).toHaveLength(1);
  expect(listServerMetadataUrls('https://auth.example.com/tenant1')).toEqual([
    'https://auth.example.com/.well-known/oauth-authorization-server/tenant1',
    'https://auth.example.com/.well-known/openid-configuration/tenant1',
    'https://auth.example.com/tenant1/.well-known/openid-configuration',
  ]);
  expect(listServerMetadataUrls('https://auth.example.com/')).toEqual([
    'https://auth.example.com/.well-known/oauth-authorization-server',
    'https://auth.example.com/.well-known/openid-configuration',
  ]);
});

test.each([
  'http://a.example.com/',
  'https://user@a.example.com/',
  'https://a.example.com/#x',
  'https://a.example.com\\@b.example.com/',
  'https://a.example.com/ b',
  'javascript:alert(1)',
  'data:text/html,x',
  `https://a.example.com/${'x'.repeat(3_000)}`,
  7,
  null,
])('no URL of metadata: %s', (value) => {
  expect(() => readUrl(value, 'token_endpoint', HTTPS)).toThrow(/token_endpoint/);
});

test.each([
  ['https://mcp.example.com/mcp', true],
  ['https://mcp.example.com', true],
  ['https://mcp.example.com/', true],
  ['https://mcp.example.com/mc', false],
  ['https://mcp.example.com/mcp/tools', false],
  ['https://mcp.example.com:8443/mcp', false],
  ['https://mcp.example.com/mcp?x=1', false],
  ['https://mcp.example.com.evil.com/mcp', false],
])('resource %s of a server at /mcp: %s', (resource, isItsOwn) => {
  const metadata = { resource, authorization_servers: ['https://auth.example.com'] };
  const read = () => readResourceMetadata(metadata, 'https://mcp.example.com/mcp', HTTPS);
  if (isItsOwn) expect(read().resource).toBe(resource);
  else expect(read).toThrow('another resource');
});

test.each([
  ['https://auth.example.com', 'https://auth.example.com', true],
  ['https://auth.example.com/', 'https://auth.example.com', true],
  ['https://auth.example.com/a/', 'https://auth.example.com/a', false],
  ['https://AUTH.example.com', 'https://auth.example.com', false],
  ['https://auth.example.com:443', 'https://auth.example.com', false],
])('issuer %s where %s was named: %s', (issuer, named, isSame) => {
  const metadata = {
    issuer,
    authorization_endpoint: 'https://auth.example.com/authorize',
    token_endpoint: 'https://auth.example.com/token',
    code_challenge_methods_supported: ['S256'],
  };
  const read = () => readServerMetadata(metadata, named, HTTPS);
  // `iss` of answers is compared with what the document states.
  if (isSame) expect(read().issuer).toBe(issuer);
  else expect(read).toThrow('another issuer');
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isPublicMailDomain, mailDomainOf, parseMailDomain } from './domain-name.js';

test.each([
  ['Example.COM', 'example.com'],
  ['  example.com ', 'example.com'],
  ['a.b-c.example', 'a.b-c.example'],
  ['bücher.example', 'xn--bcher-kva.example'],
  ['a.co', 'a.co'],
  [`${'a'.repeat(63)}.com`, `${'a'.repeat(63)}.com`],
  ['x1.xn--p1ai', 'x1.xn--p1ai'],
])('%j is %s', (text, domain) => {
  expect(parseMailDomain(text)).toBe(domain);
});

test.each([
  '',
  'com',
  'localhost',
  '.com',
  'a..com',
  'example.com.',
  '-a.com',
  'a-.com',
  'a_b.com',
  'a b.com',
  '127.0.0.1',
  'a.1com',
  '*.example.com',
  'user@example.com',
  `${'a'.repeat(64)}.com`,
  `${'a.'.repeat(126)}com`,
  'a.b',
])('%j is no domain to verify', (text) => {
  expect(parseMailDomain(text)).toBeNull();
});

test('253 characters are a domain, 254 are none', () => {
  const domain = (length: number) => `${'a.'.repeat(120)}${'b'.repeat(length - 244)}.com`;
  expect(parseMailDomain(domain(253))).toBe(domain(253));
  expect(parseMailDomain(domain(254))).toBeNull();
});

test('public mail domains belong to everybody', () => {
  for (const domain of ['gmail.com', 'outlook.com', 'icloud.com', 'web.de', 'qq.com', 'proton.me', 'yahoo.co.uk'])
    expect(isPublicMailDomain(domain)).toBe(true);
  expect(isPublicMailDomain('example.com')).toBe(false);
});

test('the domain of an address is what follows its last @', () => {
  expect(mailDomainOf('ada@Example.com')).toBe('example.com');
  expect(mailDomainOf('a@evil.com@example.com')).toBe('example.com');
  expect(mailDomainOf('a@example.com@evil')).toBeNull();
  for (const text of ['@example.com', 'example.com', '', 'a@', 'a@b']) expect(mailDomainOf(text)).toBeNull();
  expect(mailDomainOf('a@b.cd')).toBe('b.cd');
});

test('a domain is the same when it is read again, and in an address', () => {
  const label = fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,8}[a-z0-9])?$/).filter((text) => !text.includes('--'));
  fc.assert(
    fc.property(fc.array(label, { minLength: 1, maxLength: 4 }), fc.stringMatching(/^[a-z]{2,6}$/), (labels, top) => {
      const domain = [...labels, top].join('.');
      expect(parseMailDomain(domain.toUpperCase())).toBe(domain);
      expect(mailDomainOf(`someone@${domain}`)).toBe(domain);
    }),
  );
});

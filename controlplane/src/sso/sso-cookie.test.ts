import type { FastifyRequest } from 'fastify';
import { expect, test } from 'vitest';
import { SsoCookie } from './sso-cookie.js';

const SECRET = 'A'.repeat(43);
const read = (cookie: SsoCookie, header?: string) =>
  cookie.readSecret({ headers: header === undefined ? {} : { cookie: header } } as FastifyRequest);

test('over https the name binds the cookie to the host, and the name of plain http is ignored', () => {
  const cookie = new SsoCookie('https://gateway.example.com');
  expect(cookie.serializeSetCookie(SECRET)).toBe(
    `__Host-acg_sso=${SECRET}; Max-Age=600; Path=/; HttpOnly; Secure; SameSite=Lax`,
  );
  expect(cookie.serializeSetCookie(null)).toBe('__Host-acg_sso=; Max-Age=0; Path=/; HttpOnly; Secure; SameSite=Lax');
  expect(read(cookie, `__Host-acg_sso=${SECRET}; other=1`)).toBe(SECRET);
  expect(read(cookie, `acg_sso=${SECRET}`)).toBeNull();
});

test('over plain http the name is another one', () => {
  const cookie = new SsoCookie('http://127.0.0.1:8080');
  expect(cookie.serializeSetCookie(SECRET)).toBe(`acg_sso=${SECRET}; Max-Age=600; Path=/; HttpOnly; SameSite=Lax`);
  expect(read(cookie, `acg_sso=${SECRET}`)).toBe(SECRET);
});

test('what has not the form of a secret is none', () => {
  const cookie = new SsoCookie('http://127.0.0.1:8080');
  for (const header of [undefined, '', 'acg_sso=', 'acg_sso=x', `acg_sso=${SECRET}A`, `other=${SECRET}`])
    expect(read(cookie, header)).toBeNull();
});

import { Secret } from '@acg/base/secret';
import { expect, test } from 'vitest';
import { describeStartupProblem } from './startup-problem.js';

const URL_OF_DATABASE = new Secret('postgres://user:pw@database.invalid/gateway');
const problemOf = (message: string, facts: object): string =>
  describeStartupProblem(Object.assign(new Error(message), facts), URL_OF_DATABASE);
/** Builds the message of Node for a host name without an address. */
const nameless = (hostname: string, code = 'ENOTFOUND'): string =>
  problemOf(`getaddrinfo ${code} ${hostname}`, { code, syscall: 'getaddrinfo', hostname });

test('a host to listen on that has no address is not taken for the database', () => {
  expect(nameless('listen.invalid')).toMatch(/^getaddrinfo ENOTFOUND listen\.invalid: check CONTROLPLANE_HOST, /);
});

test.each(['ENOTFOUND', 'EAI_AGAIN'])('a database whose name has no address is named: %s', (code) => {
  expect(nameless('database.invalid', code)).toMatch(/^cannot reach the database at database\.invalid:5432/);
});

test('an address to listen on that this machine has not names the variables', () => {
  const text = 'listen EADDRNOTAVAIL: address not available 192.0.2.1:8080';
  const problem = problemOf(text, { code: 'EADDRNOTAVAIL', syscall: 'listen', address: '192.0.2.1', port: 8080 });
  expect(problem).toMatch(/^listen EADDRNOTAVAIL.*192\.0\.2\.1:8080: check CONTROLPLANE_HOST, CONTROLPLANE_PORT, /);
});

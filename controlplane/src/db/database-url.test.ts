import { EnvReader } from '@acg/base/env-reader';
import { Secret } from '@acg/base/secret';
import { expect, test } from 'vitest';
import { describeDatabaseAddress, readDatabaseUrl } from './database-url.js';

function problemsAndWarnings(url: string): { problem: string; warnings: readonly string[] } {
  const read = new EnvReader({ DATABASE_URL: url });
  readDatabaseUrl(read, 'a postgres:// URL');
  let problem = '';
  try {
    read.throwIfInvalid();
  } catch (error) {
    problem = (error as Error).message;
  }
  return { problem, warnings: read.warnings };
}

test.each([
  'postgres://user:pw@host/gateway',
  'postgresql://user@host:5433/gateway?sslmode=require',
  'postgres://user:pw@[::1]:5432/gateway',
  'postgres://user:pw@h1:5432,h2:5433/gateway?target_session_attrs=primary',
  'postgres://user:pw@h1,h2/gateway?sslmode=require&target_session_attrs=primary',
])('database URL: accepted: %s', (url) => {
  expect(problemsAndWarnings(url)).toEqual({ problem: '', warnings: [] });
});

test.each(['mysql://h/db', 'h1:5432,h2:5432', 'postgres://', 'postgres://u:secret-pw@h1:54x2,h2/db'])(
  'database URL: rejected without its password: %s',
  (url) => {
    const { problem } = problemsAndWarnings(url);
    expect(problem).toMatch(/^DATABASE_URL must be a URL that starts with postgres:\/\//);
    expect(problem).not.toContain('secret-pw');
  },
);

test.each(['read-write', 'any', 'standby', 'prefer-standby', 'read-only'])(
  'database URL: target_session_attrs=%s is rejected with the one that works',
  (target) => {
    const { problem } = problemsAndWarnings(`postgres://u:p@h1:1,h2:2/db?target_session_attrs=${target}`);
    expect(problem).toMatch(new RegExp(`target_session_attrs=${target}: .*Use target_session_attrs=primary$`));
  },
);

test('database URL: several hosts without target_session_attrs=primary give a warning', () => {
  const { problem, warnings } = problemsAndWarnings('postgres://u:p@h1:1,h2:2/db');
  expect([problem, warnings.length]).toEqual(['', 1]);
  expect(warnings[0]).toContain('target_session_attrs=primary');
});

test('database URL: its description names every host with its port and no password', () => {
  const describe = (url: string): string => describeDatabaseAddress(new Secret(url));
  expect(describe('postgres://u:pw@h1:5433,h2/gateway?x=1')).toBe('h1:5433,h2:5432/gateway');
  expect(describe('postgres://u:pw@h1/gateway')).toBe('h1:5432/gateway');
});

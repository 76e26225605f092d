/**
 * A mutant for every place in the control plane's SQL that restricts rows to one organization: it makes the condition
 * true for all. Generated from the sources, so that no new statement is missed.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Area, Mutant } from './mutant.js';

const ORGANIZATION_FILTER = /(?:\b\w+\.)?\borg_id = (?:\$\{(?:[^{}]|\{[^}]*\})+\}|\w+\.org_id\b)/g;
const CONTEXT_LINES_MAX = 6;

const SHARED_IDS = 'test/src/tenant-isolation/colliding-ids.test.ts';
const TWO_MEMBERSHIPS = 'test/src/tenant-isolation/membership-isolation.test.ts';
/** Tests of every route and call next to another tenant; they take seconds each. */
const GENERATED_TESTS = [
  'test/src/tenant-isolation/tenant-isolation.test.ts',
  TWO_MEMBERSHIPS,
  'test/src/tenant-isolation/quota-isolation.test.ts',
  'test/src/auth/role-matrix.test.ts',
];

/**
 * By the beginning of a file's path under controlplane/src: quicker tests with several organizations, which run first.
 */
const TESTS_BY_PATH: Readonly<Record<string, readonly string[]>> = {
  'api-keys/': ['test/src/api-contract/credentials-contract.test.ts'],
  'provider-accounts/store': ['test/src/api-contract/credentials-contract.test.ts'],
  'attention/': ['test/src/reports/attention.test.ts'],
  'idempotency/': ['test/src/controlplane/idempotency.test.ts'],
  'auth/management-tokens/': ['test/src/auth/management-tokens.test.ts', TWO_MEMBERSHIPS],
  'auth/session': ['test/src/auth/sessions.test.ts', 'test/src/auth/device-login.test.ts', TWO_MEMBERSHIPS],
  'breaker/': ['test/src/breaker/organization-breaker.test.ts', 'test/src/breaker/organization-isolation.test.ts'],
  'event-mail/': ['test/src/event-email.test.ts', TWO_MEMBERSHIPS],
  'events/': ['test/src/event-email.test.ts'],
  'ledger/daily-rollups': ['test/src/ledger/hourly-rollups.test.ts', 'test/src/ledger/daily-rollups.test.ts'],
  'ledger/hourly-dimension-rollups': ['test/src/ledger/hourly-rollups.test.ts'],
  'ledger/deferred-usage': [SHARED_IDS],
  'ledger/usage-retention': ['test/src/ledger/ledger.test.ts'],
  'members/': ['test/src/organizations/members.test.ts', TWO_MEMBERSHIPS, 'test/src/organizations/invitations.test.ts'],
  'projects/': ['test/src/organizations/projects.test.ts'],
  'providers/circuit-view': [SHARED_IDS],
  'reports/aggregates/agent-': [SHARED_IDS, 'test/src/reports/agent-usage-list.test.ts'],
  'reports/calls/call-': [SHARED_IDS, 'test/src/reports/call-search.test.ts'],
  'reports/export/export-store': [SHARED_IDS, 'test/src/reports/usage-export.test.ts'],
  'reports/aggregates/group-': [
    SHARED_IDS,
    'test/src/reports/usage-reports.test.ts',
    'test/src/reports/usage-by-scope.test.ts',
  ],
  'reports/query/rollup-': ['test/src/ledger/daily-rollups.test.ts', 'test/src/ledger/hourly-rollups.test.ts'],
  'reports/aggregates/scope-': [SHARED_IDS, 'test/src/reports/usage-by-scope.test.ts'],
  'webhooks/event-fanout': ['test/src/webhooks/delivery-fairness.test.ts', 'test/src/event-email.test.ts'],
  'webhooks/delivery-queue': ['test/src/webhooks/delivery-fairness.test.ts'],
  'webhooks/': ['test/src/webhooks/endpoints.test.ts', 'test/src/webhooks/secret-rotation-and-replay.test.ts'],
};

function listNearbyTests(file: string): readonly string[] {
  const near = Object.entries(TESTS_BY_PATH).find(([begin]) => file.startsWith(`controlplane/src/${begin}`))?.[1] ?? [];
  return [...new Set([...near, ...GENERATED_TESTS])];
}

/** `files`: paths of the control plane's sources. */
export function createOrganizationFilterArea(root: string, files: readonly string[], equivalents: Equivalents): Area {
  const mutants = files.flatMap((file) =>
    createFilterMutants(file, readFileSync(join(root, file), 'utf8'), equivalents),
  );
  return {
    name: 'organization filters',
    tests: GENERATED_TESTS,
    built: false,
    mutants,
  };
}

/** `file: text of the condition's line` → why dropping the condition has no visible effect. */
export type Equivalents = Readonly<Record<string, string>>;

function createFilterMutants(file: string, source: string, equivalents: Equivalents): readonly Mutant[] {
  const mutants: Mutant[] = [];
  for (const match of source.matchAll(ORGANIZATION_FILTER)) {
    if (/(?:\bset|,)\s+$/.test(source.slice(0, match.index))) continue; // an assignment
    const around = findUniqueExcerpt(source, match.index, match.index + match[0].length);
    if (around === null) continue;
    const [from, to] = around;
    const line = source.slice(source.lastIndexOf('\n', match.index) + 1, match.index + match[0].length).trim();
    const equivalent = equivalents[`${file}: ${line}`];
    mutants.push({
      file,
      find: source.slice(from, to),
      put: `${source.slice(from, match.index)}(${match[0]} or true)${source.slice(match.index + match[0].length, to)}`,
      bug: `no organization filter: ${line}`,
      tests: listNearbyTests(file),
      ...(equivalent === undefined ? {} : { equivalent }),
    });
  }
  return mutants;
}

/** The shortest run of whole lines around the place that occurs in the source once. */
function findUniqueExcerpt(source: string, start: number, end: number): readonly [number, number] | null {
  let from = source.lastIndexOf('\n', start - 1) + 1;
  for (let lines = 0; lines < CONTEXT_LINES_MAX; lines++) {
    const text = source.slice(from, end);
    if (source.indexOf(text) === source.lastIndexOf(text)) return [from, end];
    from = source.lastIndexOf('\n', from - 2) + 1;
  }
  return null;
}

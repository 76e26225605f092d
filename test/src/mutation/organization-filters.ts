/**
 * A mutant for every place in the control plane's SQL where rows are held to one organization: the condition is made
 * true for all. Found in the sources, so that a new statement cannot be forgotten.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Area, Mutant } from './mutant.js';

const FILTER = /(?:\b\w+\.)?\borg_id = (?:\$\{(?:[^{}]|\{[^}]*\})+\}|\w+\.org_id\b)/g;
const CONTEXT_LINES_MAX = 6;

const SHARED_IDS = 'test/src/controlplane/shared-ids.test.ts';
const TWO_MEMBERSHIPS = 'test/src/controlplane/two-memberships.test.ts';
/** Every route and call, beside another tenant: seconds each. */
const GENERATED_TESTS = [
  'test/src/controlplane/second-tenant.test.ts',
  TWO_MEMBERSHIPS,
  'test/src/controlplane/full-neighbour.test.ts',
  'test/src/controlplane/access.test.ts',
];

/** By the beginning of a file's path under controlplane/src: quicker tests that have several organizations, asked first. */
const NEAR: Readonly<Record<string, readonly string[]>> = {
  'api-keys/': ['test/src/conformance/credentials.test.ts'],
  'accounts/store': ['test/src/conformance/credentials.test.ts'],
  'attention/': ['test/src/controlplane/attention.test.ts'],
  'auth/idempotency': ['test/src/controlplane/idempotency.test.ts'],
  'auth/management-token': ['test/src/controlplane/management-tokens.test.ts', TWO_MEMBERSHIPS],
  'auth/session': [
    'test/src/controlplane/sessions.test.ts',
    'test/src/controlplane/device-login.test.ts',
    TWO_MEMBERSHIPS,
  ],
  'circuit/': ['test/src/circuit/circuit.test.ts', 'test/src/circuit/organizations.test.ts'],
  'event-mail/': ['test/src/event-mail.test.ts', TWO_MEMBERSHIPS],
  'events/': ['test/src/event-mail.test.ts'],
  'ledger/daily-rollups': ['test/src/controlplane/hour-rollups.test.ts', 'test/src/controlplane/daily-rollups.test.ts'],
  'ledger/hour-rollups': ['test/src/controlplane/hour-rollups.test.ts'],
  'ledger/lines': [SHARED_IDS],
  'ledger/retention': ['test/src/controlplane/ledger.test.ts'],
  'members/': ['test/src/controlplane/members.test.ts', TWO_MEMBERSHIPS, 'test/src/controlplane/invitations.test.ts'],
  'projects/': ['test/src/controlplane/projects.test.ts'],
  'providers/circuit-view': [SHARED_IDS],
  'reports/agent-figures': [SHARED_IDS, 'test/src/controlplane/agent-figures.test.ts'],
  'reports/call-store': [SHARED_IDS, 'test/src/controlplane/calls.test.ts'],
  'reports/log-store': [SHARED_IDS, 'test/src/controlplane/export.test.ts'],
  'reports/report-store': [
    SHARED_IDS,
    'test/src/controlplane/usage.test.ts',
    'test/src/controlplane/scope-usage.test.ts',
  ],
  'reports/rollup-source': [
    'test/src/controlplane/daily-rollups.test.ts',
    'test/src/controlplane/hour-rollups.test.ts',
  ],
  'reports/scope-spend': [SHARED_IDS, 'test/src/controlplane/scope-usage.test.ts'],
  'webhooks/fanout': ['test/src/webhooks/fairness.test.ts', 'test/src/event-mail.test.ts'],
  'webhooks/queue': ['test/src/webhooks/fairness.test.ts'],
  'webhooks/': ['test/src/webhooks/endpoints.test.ts', 'test/src/webhooks/rotation-and-replay.test.ts'],
};

function testsNear(file: string): readonly string[] {
  const near = Object.entries(NEAR).find(([begin]) => file.startsWith(`controlplane/src/${begin}`))?.[1] ?? [];
  return [...new Set([...near, ...GENERATED_TESTS])];
}

/** `files`: paths of the control plane's sources. */
export function organizationFilters(root: string, files: readonly string[], equivalents: Equivalents): Area {
  const mutants = files.flatMap((file) => filtersOf(file, readFileSync(join(root, file), 'utf8'), equivalents));
  return {
    name: 'organization filters',
    tests: GENERATED_TESTS,
    built: false,
    mutants,
  };
}

/** `file: text of the condition's line` → why leaving it out changes nothing that anybody sees. */
export type Equivalents = Readonly<Record<string, string>>;

function filtersOf(file: string, source: string, equivalents: Equivalents): readonly Mutant[] {
  const mutants: Mutant[] = [];
  for (const match of source.matchAll(FILTER)) {
    if (/(?:\bset|,)\s+$/.test(source.slice(0, match.index))) continue; // an assignment
    const around = uniqueAround(source, match.index, match.index + match[0].length);
    if (around === null) continue;
    const [from, to] = around;
    const line = source.slice(source.lastIndexOf('\n', match.index) + 1, match.index + match[0].length).trim();
    const equivalent = equivalents[`${file}: ${line}`];
    mutants.push({
      file,
      find: source.slice(from, to),
      put: `${source.slice(from, match.index)}(${match[0]} or true)${source.slice(match.index + match[0].length, to)}`,
      bug: `no organization filter: ${line}`,
      tests: testsNear(file),
      ...(equivalent === undefined ? {} : { equivalent }),
    });
  }
  return mutants;
}

/** The smallest run of whole lines around the place that stands in the source once. */
function uniqueAround(source: string, start: number, end: number): readonly [number, number] | null {
  let from = source.lastIndexOf('\n', start - 1) + 1;
  for (let lines = 0; lines < CONTEXT_LINES_MAX; lines++) {
    const text = source.slice(from, end);
    if (source.indexOf(text) === source.lastIndexOf(text)) return [from, end];
    from = source.lastIndexOf('\n', from - 2) + 1;
  }
  return null;
}

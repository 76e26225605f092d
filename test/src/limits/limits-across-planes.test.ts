/** The list of limits in each plane, and planes that are one release apart. */
import { assembleAgentContext } from '@acg/controlplane/contexts/assemble-agent-context';
import { effectiveLimits, LIMIT_FIELDS } from '@acg/controlplane/limits/agent-limit-fields';
import { decodeLimits } from '@acg/dataplane/context/decode-limits';
import { LIMIT_TABLE, type LimitRow } from '@acg/dataplane/limits/limit-table';
import { AgentContext, type IAgentContext } from '@acg/proto/messages';
import { expect, test } from 'vitest';

type AssembleArguments = Parameters<typeof assembleAgentContext>;

const noBudgets = { projectBudgetCents: null, orgBudgetCents: null };

/** The wire form of the context of an agent with these limits. */
function encodeAgentContext(own: Readonly<Record<string, number | null>>): IAgentContext {
  const key = { id: 'key-1', runs: [], orgId: 'org-1', scope: 'agent', expiresAtMs: null } as const;
  const agent = {
    id: 'agent-1',
    spendMonth: '2026-11',
    spendNanos: '5',
    accounts: [],
    customSlugs: [],
    scopes: [],
    budgets: [],
    auditLimits: [],
    cellSpend: [],
    ...noBudgets,
    ...own,
  };
  const catalogue = { providers: [], get: () => null } as unknown as AssembleArguments[2];
  const context = assembleAgentContext(
    key,
    agent as unknown as AssembleArguments[1],
    catalogue,
    { credentials: () => null, minted: () => null },
    () => 'key',
  );
  return AgentContext.decode(AgentContext.encode(context).finish());
}

const noLimits = Object.fromEntries(LIMIT_FIELDS.map(({ field }) => [field, null]));
const allLimits = Object.fromEntries(LIMIT_FIELDS.map(({ field, minimum }, at) => [field, minimum + at + 1]));

const describeLimit = ({ type, window, unit, scope, default: fallback }: Omit<LimitRow, 'message'>) =>
  [type, window, unit, scope, fallback].join(' ');

test('limits: both planes have the same limits with the same defaults', () => {
  const enforced = new Set(LIMIT_TABLE.map(describeLimit));
  for (const row of LIMIT_FIELDS) expect(enforced).toContain(describeLimit(row));
});

test.each([
  ['none of its own', noLimits],
  ['all of them', allLimits],
])('limits: the data plane enforces what the API shows for an agent with %s', (_what, own) => {
  const shown = effectiveLimits(own as Parameters<typeof effectiveLimits>[0]);
  const { byRow: limits } = decodeLimits(encodeAgentContext(own), 'agent-1');
  for (const row of LIMIT_FIELDS) {
    const at = LIMIT_TABLE.findIndex((one) => one.type === row.type && one.scope === row.scope);
    const value = shown[row.field] ?? Number.POSITIVE_INFINITY;
    expect(limits[at]).toBe(row.unit === 'cents' ? value * 10_000_000 : value);
  }
});

test('releases: an older data plane finds the limits in the old fields', () => {
  expect(encodeAgentContext(allLimits)).toMatchObject({
    rpmLimit: allLimits.rpmLimit,
    rpdLimit: allLimits.rpdLimit,
    budgetCents: allLimits.budgetCentsMonthly,
  });
  expect(encodeAgentContext(noLimits)).toMatchObject({ rpmLimit: 60, rpdLimit: 10_000 });
  expect(encodeAgentContext(noLimits).budgetCents ?? null).toBeNull();
});

test('releases: a data plane accepts the context of an older control plane, which sends no rows', () => {
  for (const own of [allLimits, noLimits]) {
    const message = encodeAgentContext(own);
    const known = new Set(['rpm', 'rpd', 'budget']);
    const expected = decodeLimits(message, 'agent-1').byRow.filter((_, at) => known.has(LIMIT_TABLE[at]!.type));
    const old = decodeLimits({ ...message, limits: [] }, 'agent-1').byRow;
    expect(old.filter((_, at) => known.has(LIMIT_TABLE[at]!.type))).toEqual(expected);
  }
});

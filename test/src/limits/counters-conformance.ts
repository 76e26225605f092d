/** What every implementation of `Counters` guarantees, run against each of them. */

import { formatMonth, monthEndSec, monthOfMs, parseMonth } from '@acg/dataplane/limits/calendar-month';
import type { AdmissionRequest, Counters } from '@acg/dataplane/limits/counters';
import { BUDGET_ROW, findLimitRow, RPD_ROW, RPM_ROW, type WindowLengthsMs } from '@acg/dataplane/limits/limit-table';
import { createTestLimits, type TestLimitsOptions } from '@acg/dataplane/limits/testing/agent-limits-fixture';
import { createLimitRejection } from '@acg/dataplane/rejection/limit-rejection';
import { precheckLimits } from '@acg/dataplane/rejection/precheck-limits';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { admit, peek, request, settleSpend } from './counters-fixture.js';

export interface CountersUnderTest {
  /** Counters with windows of the given length, each with a view on the same store. */
  open(windows: Partial<WindowLengthsMs>): Promise<Counters>;
  /** Lets the store's time pass. */
  advance(ms: number): Promise<void>;
  /** The store's time. */
  nowMs(): Promise<number>;
}

let sequence = 0;
const newAgentId = (): string => `00000000-0000-7000-8000-${String(++sequence).padStart(12, '0')}`;
const DAY_MS = 86_400_000;
const TPM_ROW = findLimitRow('tpm', 'agent_provider');

export function describeCountersContract(name: string, subject: () => CountersUnderTest): void {
  describe(`counters in ${name}`, () => {
    let counters: Counters;
    let agentId: string;
    let month: string;
    const ask = (overrides: Parameters<typeof request>[0] = {}) =>
      request({ agentId, spendFloorMonth: month, ...overrides });
    const outcomes = async (count: number, asked: AdmissionRequest): Promise<string[]> => {
      const answers = await Promise.all(Array.from({ length: count }, () => admit(counters, asked)));
      return answers.map((answer) => answer.outcome);
    };

    beforeEach(async () => {
      counters = await subject().open({ minute: 60_000, day: DAY_MS });
      agentId = newAgentId();
      month = formatMonth(monthOfMs(await subject().nowMs()));
    });
    afterEach(() => counters.close());

    test('rpm: exactly `limit` of many simultaneous requests pass, in order of arrival', async () => {
      const asked = ask({ rpmLimit: 50 });
      const answers = await Promise.all(Array.from({ length: 400 }, () => admit(counters, asked)));
      expect(answers.slice(0, 50).every((answer) => answer.outcome === 'admitted')).toBe(true);
      expect(answers.slice(50).every((answer) => answer.outcome === 'rpm' && answer.rpmRemaining === 0)).toBe(true);
      expect(answers.slice(0, 50).map((answer) => answer.rpmRemaining)).toEqual(
        Array.from({ length: 50 }, (_, i) => 49 - i),
      );
    });

    test('rpm: each provider has its own count, each agent too', async () => {
      expect(await outcomes(2, ask({ rpmLimit: 1 }))).toEqual(['admitted', 'rpm']);
      expect(await outcomes(2, ask({ rpmLimit: 1, providerSlug: 'anthropic' }))).toEqual(['admitted', 'rpm']);
      expect(await outcomes(2, ask({ rpmLimit: 1, agentId: newAgentId() }))).toEqual(['admitted', 'rpm']);
    });

    test('rpm: reset is when the oldest leaves; refused, when the next one passes', async () => {
      const before = await subject().nowMs();
      const first = await admit(counters, ask({ rpmLimit: 2 }));
      const second = await admit(counters, ask({ rpmLimit: 2 }));
      const refused = await admit(counters, ask({ rpmLimit: 2 }));
      const after = await subject().nowMs();
      for (const atSec of [first.rpmResetAtSec, second.rpmResetAtSec, refused.rpmResetAtSec, refused.retryAtSec]) {
        expect(atSec).toBeGreaterThanOrEqual(Math.ceil((before + 60_000) / 1000));
        expect(atSec).toBeLessThanOrEqual(Math.ceil((after + 60_000) / 1000));
      }
    });

    test('rpd: a fixed window; its refusal tells when it ends and consumes nothing of the minute', async () => {
      const before = await subject().nowMs();
      expect(await outcomes(3, ask({ rpdLimit: 3 }))).toEqual(['admitted', 'admitted', 'admitted']);
      const after = await subject().nowMs();
      const refused = await admit(counters, ask({ rpdLimit: 3 }));
      expect(refused.outcome).toBe('rpd');
      expect(refused.rpmRemaining).toBe(57);
      expect(refused.retryAtSec).toBeGreaterThanOrEqual(Math.ceil((before + DAY_MS) / 1000));
      expect(refused.retryAtSec).toBeLessThanOrEqual(Math.ceil((after + DAY_MS) / 1000));
      expect((await admit(counters, ask({ rpdLimit: 3 }))).rpmRemaining).toBe(57);
    });

    test('order: rpm before rpd before budget', async () => {
      const asked = { rpmLimit: 1, rpdLimit: 1, budgetNanos: 10, spendFloorNanos: 0 };
      expect((await admit(counters, ask(asked))).outcome).toBe('admitted');
      settleSpend(counters, agentId, 10, parseMonth(month));
      expect((await admit(counters, ask(asked))).outcome).toBe('rpm');
      expect((await admit(counters, ask({ ...asked, rpmLimit: 2 }))).outcome).toBe('rpd');
      expect((await admit(counters, ask({ ...asked, rpmLimit: 2, rpdLimit: 2 }))).outcome).toBe('budget');
      expect((await admit(counters, ask({ ...asked, rpmLimit: 2, rpdLimit: 2, budgetNanos: 11 }))).outcome).toBe(
        'admitted',
      );
    });

    test('budget: to the nano-dollar, over all providers, until the month ends', async () => {
      const budgetNanos = 1_000_000_007;
      settleSpend(counters, agentId, 1_000_000_006, parseMonth(month));
      const below = await admit(counters, ask({ budgetNanos }));
      expect(below).toMatchObject({ outcome: 'admitted', spentNanos: 1_000_000_006 });
      settleSpend(counters, agentId, 1, parseMonth(month));
      const at = await admit(counters, ask({ budgetNanos, providerSlug: 'anthropic' }));
      expect(at).toMatchObject({ outcome: 'budget', spentNanos: 1_000_000_007 });
      expect(at.retryAtSec).toBe(monthEndSec(monthOfMs(await subject().nowMs())));
    });

    test('budget: zero lets nothing pass', async () => {
      expect((await admit(counters, ask({ budgetNanos: 0 }))).outcome).toBe('budget');
    });

    test('budget: a floor above the counter decides, one of another month does not', async () => {
      const asked = { budgetNanos: 100, spendFloorNanos: 100 };
      expect((await admit(counters, ask({ ...asked, spendFloorMonth: '1999-01' }))).outcome).toBe('admitted');
      const refused = await admit(counters, ask(asked));
      expect(refused).toMatchObject({ outcome: 'budget', spentNanos: 100 });
      counters.updateLedgerSpend(agentId, parseMonth(month) - 1, 5_000, 5_000);
      expect(await admit(counters, ask({ ...asked, budgetNanos: 101 }))).toMatchObject({
        outcome: 'admitted',
        spentNanos: 100,
      });
    });

    test('budget: what data planes have spent and what the ledger has are never added', async () => {
      const asked = { budgetNanos: 150, spendFloorNanos: 100 };
      expect(await admit(counters, ask(asked))).toMatchObject({ outcome: 'admitted', spentNanos: 100 });
      settleSpend(counters, agentId, 60, parseMonth(month));
      expect(await admit(counters, ask(asked))).toMatchObject({ outcome: 'admitted', spentNanos: 100 });
      settleSpend(counters, agentId, 60, parseMonth(month));
      expect(await admit(counters, ask(asked))).toMatchObject({ outcome: 'admitted', spentNanos: 120 });
      counters.updateLedgerSpend(agentId, parseMonth(month), 150, 0);
      expect(await admit(counters, ask(asked))).toMatchObject({ outcome: 'budget', spentNanos: 150 });
    });

    test('budget: what only the ledger counts is added to what data planes have spent', async () => {
      settleSpend(counters, agentId, 60, parseMonth(month));
      const asked = { budgetNanos: 100, spendFloorNanos: 40, spendLedgerOwnNanos: 40 };
      for (let i = 0; i < 2; i++) {
        expect(await admit(counters, ask(asked))).toMatchObject({ outcome: 'budget', spentNanos: 100 });
      }
      counters.updateLedgerSpend(agentId, parseMonth(month), 45, 45);
      expect(await admit(counters, ask(asked))).toMatchObject({ outcome: 'budget', spentNanos: 105 });
    });

    test('budget: a call belongs to the month in which it was admitted', async () => {
      const asked = ask({ budgetNanos: 100 });
      const admission = await admit(counters, asked);
      expect(admission.month).toBe(parseMonth(month));
      settleSpend(counters, agentId, 100, admission.month - 1);
      expect(await admit(counters, asked)).toMatchObject({ outcome: 'admitted', spentNanos: 0 });
      settleSpend(counters, agentId, 100, admission.month);
      expect(await admit(counters, asked)).toMatchObject({ outcome: 'budget', spentNanos: 100 });
    });

    test('budget: of the project and of the organization, over all of their agents; the tightest says which', async () => {
      const other = newAgentId();
      const spend = (agent: string, terms: TestLimitsOptions, costNanos: number): void =>
        counters.settle({
          limits: createTestLimits({ agentId: agent, ...terms }),
          providerSlug: 'openai',
          month: parseMonth(month),
          costNanos,
          tokens: 0,
          reservationNanos: 0,
        });
      const before = await peek(counters, {
        limits: ask({ projectBudgetNanos: 1e15, orgBudgetNanos: 1e15 }).limits,
        providerSlugs: [],
      });
      const [, project, org] = before!.spends.map(({ spentNanos }) => spentNanos);
      const limits = { budgetNanos: 500, projectBudgetNanos: project! + 150, orgBudgetNanos: org! + 200 };
      const refusedBy = async (agent: string): Promise<number> =>
        (await admit(counters, ask({ ...limits, agentId: agent }))).rejectedByRow;
      spend(agentId, limits, 100);
      expect(await refusedBy(agentId)).toBe(-1);
      spend(other, limits, 50);
      expect(await refusedBy(agentId)).toBe(findLimitRow('budget', 'project'));
      expect(await refusedBy(other)).toBe(findLimitRow('budget', 'project'));
      spend(other, { ...limits, projectBudgetNanos: 1e15 }, 50);
      const wide = { ...limits, projectBudgetNanos: 1e15 };
      expect((await admit(counters, ask(wide))).rejectedByRow).toBe(findLimitRow('budget', 'org'));
      const open = { projectBudgetNanos: 1e15, orgBudgetNanos: 1e15, budgetNanos: 100 };
      expect((await admit(counters, ask(open))).rejectedByRow).toBe(BUDGET_ROW);
      const both = { projectBudgetNanos: 1, orgBudgetNanos: 1, budgetNanos: 1e15 };
      expect((await admit(counters, ask(both))).rejectedByRow).toBe(findLimitRow('budget', 'project'));
    });

    test('budget: one of the project or the organization set in mid-month starts from what was spent before', async () => {
      const open = { projectBudgetNanos: 1e15, orgBudgetNanos: 1e15 };
      const before = await peek(counters, { limits: ask(open).limits, providerSlugs: [] });
      const [, project, org] = before!.spends.map(({ spentNanos }) => spentNanos);
      const settle = (terms: TestLimitsOptions): void =>
        counters.settle({
          limits: createTestLimits({ agentId, countsScopes: true, ...terms }),
          providerSlug: 'openai',
          month: parseMonth(month),
          costNanos: 100,
          tokens: 0,
          reservationNanos: 0,
        });
      settle({});
      // The very first call after it was set, with a ledger that knows nothing of the spend yet.
      const ofProject = await admit(counters, ask({ projectBudgetNanos: project! + 100 }));
      expect(ofProject).toMatchObject({ refusedBy: findLimitRow('budget', 'project'), spentNanos: project! + 100 });
      settle({ projectBudgetNanos: 1e15 }); // a budget on one of them, none on the other
      expect(await admit(counters, ask({ orgBudgetNanos: org! + 201 }))).toMatchObject({ refusedBy: -1 });
      const ofOrg = await admit(counters, ask({ orgBudgetNanos: org! + 200 }));
      expect(ofOrg).toMatchObject({ refusedBy: findLimitRow('budget', 'org'), spentNanos: org! + 200 });
      expect(await admit(counters, ask({ projectBudgetNanos: project! + 201 }))).toMatchObject({ refusedBy: -1 });
    });

    test('tpm: tokens of ended calls refuse at the limit, per provider, and say when a call passes', async () => {
      const asked = ask({ tpmLimit: 100 });
      const spend = (tokens: number): void =>
        counters.settle({
          limits: asked.limits,
          providerSlug: 'openai',
          month: parseMonth(month),
          costNanos: 0,
          tokens,
          reservationNanos: 0,
        });
      const before = await subject().nowMs();
      spend(99);
      expect((await admit(counters, asked)).outcome).toBe('admitted');
      spend(1);
      const refused = await admit(counters, asked);
      expect(refused).toMatchObject({ outcome: 'tpm', refusedBy: TPM_ROW });
      expect(refused.retryAtSec).toBeGreaterThanOrEqual(Math.floor(before / 1000) + 60);
      expect(refused.retryAtSec).toBeLessThanOrEqual(Math.ceil((await subject().nowMs()) / 1000) + 61);
      expect((await admit(counters, ask({ tpmLimit: 101 }))).outcome).toBe('admitted');
      expect((await admit(counters, ask({ tpmLimit: 100, providerSlug: 'anthropic' }))).outcome).toBe('admitted');
      expect((await admit(counters, ask({ tpmLimit: 1, rpdLimit: 1 }))).outcome).toBe('rpd');
      expect((await admit(counters, ask({ tpmLimit: 1, budgetNanos: 0 }))).outcome).toBe('tpm');
      const shown = await peek(counters, { limits: asked.limits, providerSlugs: ['openai'] });
      expect(shown?.windows[0]?.remaining[TPM_ROW]).toBe(0);
    });

    test('tpm: tokens of calls that end in one turn count each for its own agent and provider', async () => {
      const other = newAgentId();
      const pairs = [
        ask({ tpmLimit: 100 }),
        ask({ tpmLimit: 100, providerSlug: 'anthropic' }),
        ask({ tpmLimit: 100, agentId: other }),
      ];
      const spend = (tokens: number): void => {
        for (const { limits: terms, providerSlug } of pairs) {
          counters.settle({
            limits: terms,
            providerSlug,
            month: parseMonth(month),
            costNanos: 0,
            tokens,
            reservationNanos: 0,
          });
        }
      };
      const answers = () => Promise.all(pairs.map(async (asked) => (await admit(counters, asked)).outcome));
      spend(60);
      expect(await answers()).toEqual(['admitted', 'admitted', 'admitted']);
      spend(40);
      expect(await answers()).toEqual(['tpm', 'tpm', 'tpm']);
    });

    test('tpm: tokens leave bit by bit after their minute', async () => {
      const short = await subject().open({ minute: 60_000, day: DAY_MS, tokenMinute: 120 });
      const asked = ask({ tpmLimit: 10 });
      const settlement = { limits: asked.limits, providerSlug: 'openai', month: parseMonth(month), costNanos: 0 };
      for (let round = 0; round < 3; round++) {
        short.settle({ ...settlement, tokens: 6, reservationNanos: 0 });
        expect((await admit(short, asked)).outcome).toBe('admitted');
        short.settle({ ...settlement, tokens: 4, reservationNanos: 0 });
        expect((await admit(short, asked)).outcome).toBe('tpm');
        await subject().advance(125);
      }
      await short.close();
    });

    describe('holds', () => {
      const hard = (holdNanos: number, budgetNanos = 100) => ask({ hardBudget: true, budgetNanos, holdNanos });
      const settle = (holdNanos: number, costNanos: number): void =>
        counters.settle({
          limits: hard(0).limits,
          providerSlug: 'openai',
          month: parseMonth(month),
          costNanos,
          tokens: 0,
          reservationNanos: holdNanos,
        });

      test('admitted while spend, live holds and the own hold fit; refused above', async () => {
        const answers = await Promise.all(Array.from({ length: 6 }, () => admit(counters, hard(30))));
        expect(answers.map((answer) => answer.outcome)).toEqual([
          ...['admitted', 'admitted', 'admitted'],
          ...['budget', 'budget', 'budget'],
        ]);
        expect(answers[5]).toMatchObject({ refusedBy: BUDGET_ROW, spentNanos: 0, heldNanos: 90, holdNanos: 30 });
        expect((await admit(counters, hard(11))).outcome).toBe('budget');
        expect((await admit(counters, hard(10))).outcome).toBe('admitted');
        expect((await admit(counters, hard(1))).outcome).toBe('budget');
      });

      test('different holds of one turn are each looked at in order of arrival', async () => {
        const { limits: terms, providerSlug } = hard(0);
        const asked = [60, 50, 40, 1].map((reservationNanos) => ({ limits: terms, providerSlug, reservationNanos }));
        const answers = await Promise.all(asked.map((one) => admit(counters, one)));
        expect(answers.map((answer) => answer.outcome)).toEqual(['admitted', 'budget', 'admitted', 'budget']);
      });

      test('settling replaces the hold by the cost', async () => {
        expect((await admit(counters, hard(100))).outcome).toBe('admitted');
        expect((await admit(counters, hard(1))).outcome).toBe('budget');
        settle(100, 40);
        expect(await admit(counters, hard(60))).toMatchObject({ outcome: 'admitted', spentNanos: 40 });
        expect(await admit(counters, hard(1))).toMatchObject({ outcome: 'budget', spentNanos: 40, heldNanos: 60 });
        settle(60, 0);
        expect((await admit(counters, hard(60))).outcome).toBe('admitted');
        expect((await admit(counters, hard(61))).outcome).toBe('budget');
      });

      test('a call that holds nothing is refused only when the budget is spent', async () => {
        await admit(counters, hard(100));
        expect((await admit(counters, hard(0))).outcome).toBe('admitted');
        settle(100, 100);
        expect((await admit(counters, hard(0))).outcome).toBe('budget');
      });

      test('what is refused by another limit takes no hold', async () => {
        const asked = { hardBudget: true, budgetNanos: 100, holdNanos: 100 };
        expect((await admit(counters, ask({ ...asked, rpmLimit: 1, providerSlug: 'anthropic' }))).outcome).toBe(
          'admitted',
        );
        settle(100, 0);
        expect((await admit(counters, ask({ ...asked, rpmLimit: 1, providerSlug: 'anthropic' }))).outcome).toBe('rpm');
        expect((await admit(counters, hard(100))).outcome).toBe('admitted');
      });

      test('a hold can grow while there is room', async () => {
        const { limits: terms } = hard(0);
        const grow = (nanos: number): Promise<boolean> =>
          new Promise((resolve) => counters.growReservation(terms, nanos, resolve));
        await admit(counters, hard(60));
        expect(await grow(30)).toBe(true);
        expect(await grow(11)).toBe(false);
        expect(await grow(10)).toBe(true);
        const shown = await peek(counters, { limits: terms, providerSlugs: [] });
        expect(shown?.spends[0]).toMatchObject({ spentNanos: 0, heldNanos: 100 });
        settle(100, 5);
        expect((await admit(counters, hard(95))).outcome).toBe('admitted');
      });
    });

    test('limits: a change applies to the running windows at once', async () => {
      await outcomes(10, ask({ rpmLimit: 10 }));
      expect((await admit(counters, ask({ rpmLimit: 10 }))).outcome).toBe('rpm');
      expect(await admit(counters, ask({ rpmLimit: 12 }))).toMatchObject({ outcome: 'admitted', rpmRemaining: 1 });
      expect((await admit(counters, ask({ rpmLimit: 5 }))).outcome).toBe('rpm');
      expect((await admit(counters, ask({ rpmLimit: 100, rpdLimit: 11 }))).outcome).toBe('rpd');
      expect((await admit(counters, ask({ rpmLimit: 100, rpdLimit: 12 }))).outcome).toBe('admitted');
      expect((await admit(counters, ask({ rpmLimit: 100, rpdLimit: 12 }))).outcome).toBe('rpd');
    });

    test('limits: requests of one turn with different limits are each held to their own', async () => {
      const answers = await Promise.all([
        admit(counters, ask({ rpmLimit: 2 })),
        admit(counters, ask({ rpmLimit: 1 })),
        admit(counters, ask({ rpmLimit: 2 })),
      ]);
      expect(answers.map((answer) => answer.outcome)).toEqual(['admitted', 'rpm', 'admitted']);
    });

    test('standing: shows both windows and the spend, and consumes nothing', async () => {
      const { limits: terms } = ask({ rpmLimit: 60, rpdLimit: 100 });
      const look = { limits: terms, providerSlugs: ['openai', 'resend'] };
      await outcomes(3, ask({ rpmLimit: 60, rpdLimit: 100 }));
      settleSpend(counters, agentId, 42, parseMonth(month));
      for (let i = 0; i < 2; i++) {
        const shown = await peek(counters, look);
        expect(shown?.spends[0]?.spentNanos).toBe(42);
        expect(shown?.windows[0]).toMatchObject({ providerSlug: 'openai' });
        expect(shown?.windows[0]?.remaining[RPM_ROW]).toBe(57);
        expect(shown?.windows[0]?.remaining[RPD_ROW]).toBe(97);
        expect(shown?.windows[0]?.resetAtSec[RPM_ROW]).toBeGreaterThan((await subject().nowMs()) / 1000);
        for (const [row, left] of [
          [RPM_ROW, 60],
          [RPD_ROW, 100],
        ] as const) {
          expect(shown?.windows[1]?.remaining[row]).toBe(left);
          expect(shown?.windows[1]?.resetAtSec[row]).toBeNull();
        }
      }
    });

    test.each([
      ['the minute is full', { rpmLimit: 2 }],
      ['its limit was lowered below what is in it', { rpmLimit: 1 }],
      ['the day is full', { rpdLimit: 2 }],
      ['the tokens are used up', { tpmLimit: 100 }],
    ])('a look that consumes nothing refuses with the moment of a refused admission: %s', async (_what, limits) => {
      expect(await outcomes(1, ask())).toEqual(['admitted']);
      await subject().advance(1_100);
      expect(await outcomes(1, ask())).toEqual(['admitted']);
      const { limits: terms, providerSlug } = ask(limits);
      const month = monthOfMs(await subject().nowMs());
      counters.settle({ limits: terms, providerSlug, month, costNanos: 0, tokens: 100, reservationNanos: 0 });
      const refused = await admit(counters, { limits: terms, providerSlug, reservationNanos: 0 });
      const shown = await peek(counters, { limits: terms, providerSlugs: [providerSlug] });
      const nowMs = await subject().nowMs();
      expect(refused.rejectedByRow).toBeGreaterThanOrEqual(0);
      expect(precheckLimits(shown!, terms.byRow, nowMs)).toEqual(createLimitRejection(refused, terms.byRow, nowMs));
    });

    test('rpm: what was admitted leaves after the window, and the log goes on over many windows', async () => {
      const short = await subject().open({ minute: 40, day: DAY_MS });
      let admitted = 0;
      for (let round = 0; round < 30; round++) {
        const answers = await Promise.all(Array.from({ length: 4 }, () => admit(short, ask({ rpmLimit: 3 }))));
        admitted += answers.filter((answer) => answer.outcome === 'admitted').length;
        expect((await admit(short, ask({ rpmLimit: 3 }))).outcome).not.toBe('rpd');
        await subject().advance(41);
      }
      expect(admitted).toBe(90);
      await short.close();
    });

    test('rpd: the window starts with the first admitted request and the next one with the next', async () => {
      const short = await subject().open({ minute: 5, day: 50 });
      const asked = ask({ rpdLimit: 2, rpmLimit: 1000 });
      for (let round = 0; round < 3; round++) {
        const answers = await Promise.all(Array.from({ length: 3 }, () => admit(short, asked)));
        expect(answers.map((answer) => answer.outcome)).toEqual(['admitted', 'admitted', 'rpd']);
        await subject().advance(51);
      }
      await short.close();
    });
  });
}

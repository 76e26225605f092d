/** Contract tests of `Counters`, run against each implementation. */

import { spendName } from '@acg/dataplane/limits/budget-row';
import { calendarWindowAt, parseMonth } from '@acg/dataplane/limits/calendar-window';
import type { AdmissionRequest, Counters } from '@acg/dataplane/limits/counters-interface';
import {
  BUDGET_ROW,
  findLimitRow,
  RPD_ROW,
  RPM_ROW,
  TOOL_RATE_ROW,
  type WindowLengthsMs,
} from '@acg/dataplane/limits/limit-table';
import { createTestLimits, type TestLimitsOptions } from '@acg/dataplane/limits/testing/agent-limits-fixture';
import { createLimitRejection } from '@acg/dataplane/rejection/limit-rejection';
import { precheckLimits } from '@acg/dataplane/rejection/precheck-limits';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { admit, createAdmissionRequest, peek, settleSpend } from './counters-fixture.js';

export interface CountersUnderTest {
  /** Opens counters with windows of the given length; all of them share one store. */
  open(windows: Partial<WindowLengthsMs>): Promise<Counters>;
  /** Advances the time of the store. */
  advance(ms: number): Promise<void>;
  /** The time of the store, Unix ms. */
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
    let nowSec: number;
    let month: string;
    const ask = (overrides: Parameters<typeof createAdmissionRequest>[0] = {}) =>
      createAdmissionRequest({ agentId, spendFloorMonth: month, ...overrides });
    const lastMonth = () => calendarWindowAt('month', parseMonth(month)!.startSec - 1);
    const outcomes = async (count: number, request: AdmissionRequest): Promise<string[]> => {
      const answers = await Promise.all(Array.from({ length: count }, () => admit(counters, request)));
      return answers.map((answer) => answer.outcome);
    };

    beforeEach(async () => {
      counters = await subject().open({ minute: 60_000, day: DAY_MS });
      agentId = newAgentId();
      nowSec = Math.floor((await subject().nowMs()) / 1000);
      month = calendarWindowAt('month', nowSec).name;
    });
    afterEach(() => counters.close());

    test('rpm: admits exactly `limit` of many simultaneous requests, in order of arrival', async () => {
      const request = ask({ rpmLimit: 50 });
      const answers = await Promise.all(Array.from({ length: 400 }, () => admit(counters, request)));
      expect(answers.slice(0, 50).every((answer) => answer.outcome === 'admitted')).toBe(true);
      expect(answers.slice(50).every((answer) => answer.outcome === 'rpm' && answer.rpmRemaining === 0)).toBe(true);
      expect(answers.slice(0, 50).map((answer) => answer.rpmRemaining)).toEqual(
        Array.from({ length: 50 }, (_, i) => 49 - i),
      );
    });

    test('rpm: each provider and each agent has its own count', async () => {
      expect(await outcomes(2, ask({ rpmLimit: 1 }))).toEqual(['admitted', 'rpm']);
      expect(await outcomes(2, ask({ rpmLimit: 1, providerSlug: 'anthropic' }))).toEqual(['admitted', 'rpm']);
      expect(await outcomes(2, ask({ rpmLimit: 1, agentId: newAgentId() }))).toEqual(['admitted', 'rpm']);
    });

    test('rpm: the reset time of a rejection is when the next request passes, else when the oldest leaves', async () => {
      const before = await subject().nowMs();
      const first = await admit(counters, ask({ rpmLimit: 2 }));
      const second = await admit(counters, ask({ rpmLimit: 2 }));
      const rejected = await admit(counters, ask({ rpmLimit: 2 }));
      const after = await subject().nowMs();
      for (const atSec of [first.rpmResetAtSec, second.rpmResetAtSec, rejected.rpmResetAtSec, rejected.retryAtSec]) {
        expect(atSec).toBeGreaterThanOrEqual(Math.ceil((before + 60_000) / 1000));
        expect(atSec).toBeLessThanOrEqual(Math.ceil((after + 60_000) / 1000));
      }
    });

    test('rpd: a fixed window; its rejection reports the window end and consumes nothing of the minute', async () => {
      const before = await subject().nowMs();
      expect(await outcomes(3, ask({ rpdLimit: 3 }))).toEqual(['admitted', 'admitted', 'admitted']);
      const after = await subject().nowMs();
      const rejected = await admit(counters, ask({ rpdLimit: 3 }));
      expect(rejected.outcome).toBe('rpd');
      expect(rejected.rpmRemaining).toBe(57);
      expect(rejected.retryAtSec).toBeGreaterThanOrEqual(Math.ceil((before + DAY_MS) / 1000));
      expect(rejected.retryAtSec).toBeLessThanOrEqual(Math.ceil((after + DAY_MS) / 1000));
      expect((await admit(counters, ask({ rpdLimit: 3 }))).rpmRemaining).toBe(57);
    });

    test('tool: a limit of its own within that of the provider; what one of both rejects counts in neither', async () => {
      const toolRate = { pattern: 'delete_*', rpm: 2 };
      const before = await subject().nowMs();
      const answers = await Promise.all(
        Array.from({ length: 4 }, () => admit(counters, ask({ rpmLimit: 4, toolRate }))),
      );
      const after = await subject().nowMs();
      expect(answers.map(({ outcome }) => outcome)).toEqual(['admitted', 'admitted', 'tool_rpm', 'tool_rpm']);
      expect(answers[2]).toMatchObject({ rejectedByRow: TOOL_RATE_ROW, rpmRemaining: 2 });
      expect(answers[2]!.retryAtSec).toBeGreaterThanOrEqual(Math.ceil((before + 60_000) / 1000));
      expect(answers[2]!.retryAtSec).toBeLessThanOrEqual(Math.ceil((after + 60_000) / 1000));
      // Another tool, another provider, another agent.
      const other = { pattern: 'read_*', rpm: 1 };
      expect(await outcomes(2, ask({ rpmLimit: 4, toolRate: other }))).toEqual(['admitted', 'tool_rpm']);
      expect(await outcomes(1, ask({ providerSlug: 'other', toolRate }))).toEqual(['admitted']);
      expect(await outcomes(1, ask({ agentId: newAgentId(), toolRate }))).toEqual(['admitted']);
      // The provider's limit rejects first, and consumes nothing of the tool's.
      expect(await outcomes(2, ask({ rpmLimit: 4 }))).toEqual(['admitted', 'rpm']);
      const third = { pattern: 'x', rpm: 1 };
      expect(await outcomes(1, ask({ rpmLimit: 4, toolRate: third }))).toEqual(['rpm']);
      expect(await outcomes(1, ask({ rpmLimit: 5, toolRate: third }))).toEqual(['admitted']);
      // A raised and a lowered limit of the tool count the same window.
      expect(await outcomes(2, ask({ toolRate: { ...toolRate, rpm: 3 } }))).toEqual(['admitted', 'tool_rpm']);
      expect(await outcomes(1, ask({ toolRate: { ...toolRate, rpm: 1 } }))).toEqual(['tool_rpm']);
    });

    test('tool: a request leaves its minute', async () => {
      const short = await subject().open({ minute: 40, day: DAY_MS });
      const request = ask({ toolRate: { pattern: 'delete_*', rpm: 1 } });
      for (let round = 0; round < 3; round++) {
        const answers = await Promise.all([admit(short, request), admit(short, request)]);
        expect(answers.map(({ outcome }) => outcome)).toEqual(['admitted', 'tool_rpm']);
        await subject().advance(41);
      }
      await short.close();
    });

    test('tool: a budget that is spent rejects the call and leaves the minute of the tool', async () => {
      const toolRate = { pattern: 'a', rpm: 1 };
      settleSpend(counters, agentId, 10, nowSec);
      expect(await outcomes(1, ask({ toolRate, budgetNanos: 10 }))).toEqual(['budget']);
      expect(await outcomes(2, ask({ toolRate, budgetNanos: 11 }))).toEqual(['admitted', 'tool_rpm']);
    });

    test('order: rpm before rpd before budget', async () => {
      const request = { rpmLimit: 1, rpdLimit: 1, budgetNanos: 10, spendFloorNanos: 0 };
      expect((await admit(counters, ask(request))).outcome).toBe('admitted');
      settleSpend(counters, agentId, 10, nowSec);
      expect((await admit(counters, ask(request))).outcome).toBe('rpm');
      expect((await admit(counters, ask({ ...request, rpmLimit: 2 }))).outcome).toBe('rpd');
      expect((await admit(counters, ask({ ...request, rpmLimit: 2, rpdLimit: 2 }))).outcome).toBe('budget');
      expect((await admit(counters, ask({ ...request, rpmLimit: 2, rpdLimit: 2, budgetNanos: 11 }))).outcome).toBe(
        'admitted',
      );
    });

    test('budget: counts to the nano-dollar, over all providers, until the month ends', async () => {
      const budgetNanos = 1_000_000_007;
      settleSpend(counters, agentId, 1_000_000_006, nowSec);
      const below = await admit(counters, ask({ budgetNanos }));
      expect(below).toMatchObject({ outcome: 'admitted', spentNanos: 1_000_000_006 });
      settleSpend(counters, agentId, 1, nowSec);
      const at = await admit(counters, ask({ budgetNanos, providerSlug: 'anthropic' }));
      expect(at).toMatchObject({ outcome: 'budget', spentNanos: 1_000_000_007 });
      expect(at.retryAtSec).toBe(calendarWindowAt('month', (await subject().nowMs()) / 1000).endSec);
    });

    test('budget: a budget of zero rejects every call', async () => {
      expect((await admit(counters, ask({ budgetNanos: 0 }))).outcome).toBe('budget');
    });

    test('budget: a ledger spend above the counter decides, one of another month does not', async () => {
      const request = { budgetNanos: 100, spendFloorNanos: 100 };
      expect((await admit(counters, ask({ ...request, spendFloorMonth: '1999-01' }))).outcome).toBe('admitted');
      const rejected = await admit(counters, ask(request));
      expect(rejected).toMatchObject({ outcome: 'budget', spentNanos: 100 });
      counters.updateLedgerSpend(spendName('agent', agentId), lastMonth(), 5_000, 5_000);
      expect(await admit(counters, ask({ ...request, budgetNanos: 101 }))).toMatchObject({
        outcome: 'admitted',
        spentNanos: 100,
      });
    });

    test('budget: the spend of data planes and the spend in the ledger are not added up', async () => {
      const request = { budgetNanos: 150, spendFloorNanos: 100 };
      expect(await admit(counters, ask(request))).toMatchObject({ outcome: 'admitted', spentNanos: 100 });
      settleSpend(counters, agentId, 60, nowSec);
      expect(await admit(counters, ask(request))).toMatchObject({ outcome: 'admitted', spentNanos: 100 });
      settleSpend(counters, agentId, 60, nowSec);
      expect(await admit(counters, ask(request))).toMatchObject({ outcome: 'admitted', spentNanos: 120 });
      counters.updateLedgerSpend(spendName('agent', agentId), parseMonth(month)!, 150, 0);
      expect(await admit(counters, ask(request))).toMatchObject({ outcome: 'budget', spentNanos: 150 });
    });

    test('budget: spend that only the ledger counts is added to the spend of data planes', async () => {
      settleSpend(counters, agentId, 60, nowSec);
      const request = { budgetNanos: 100, spendFloorNanos: 40, spendLedgerOnlyNanos: 40 };
      for (let i = 0; i < 2; i++) {
        expect(await admit(counters, ask(request))).toMatchObject({ outcome: 'budget', spentNanos: 100 });
      }
      counters.updateLedgerSpend(spendName('agent', agentId), parseMonth(month)!, 45, 45);
      expect(await admit(counters, ask(request))).toMatchObject({ outcome: 'budget', spentNanos: 105 });
    });

    test('budget: a call counts in the month in which it was admitted', async () => {
      const request = ask({ budgetNanos: 100 });
      const admission = await admit(counters, request);
      expect(calendarWindowAt('month', admission.admittedAtSec).name).toBe(month);
      settleSpend(counters, agentId, 100, lastMonth().startSec);
      expect(await admit(counters, request)).toMatchObject({ outcome: 'admitted', spentNanos: 0 });
      settleSpend(counters, agentId, 100, admission.admittedAtSec);
      expect(await admit(counters, request)).toMatchObject({ outcome: 'budget', spentNanos: 100 });
    });

    test('budget: covers all agents of a project and an organization; the tightest budget is named', async () => {
      const other = newAgentId();
      const spend = (agent: string, limits: TestLimitsOptions, costNanos: number): void =>
        counters.settle({
          limits: createTestLimits({ agentId: agent, ...limits }),
          providerSlug: 'openai',
          admittedAtSec: nowSec,
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
      const rejectedByRow = async (agent: string): Promise<number> =>
        (await admit(counters, ask({ ...limits, agentId: agent }))).rejectedByRow;
      spend(agentId, limits, 100);
      expect(await rejectedByRow(agentId)).toBe(-1);
      spend(other, limits, 50);
      expect(await rejectedByRow(agentId)).toBe(findLimitRow('budget', 'project'));
      expect(await rejectedByRow(other)).toBe(findLimitRow('budget', 'project'));
      spend(other, { ...limits, projectBudgetNanos: 1e15 }, 50);
      const wide = { ...limits, projectBudgetNanos: 1e15 };
      expect((await admit(counters, ask(wide))).rejectedByRow).toBe(findLimitRow('budget', 'org'));
      const open = { projectBudgetNanos: 1e15, orgBudgetNanos: 1e15, budgetNanos: 100 };
      expect((await admit(counters, ask(open))).rejectedByRow).toBe(BUDGET_ROW);
      const both = { projectBudgetNanos: 1, orgBudgetNanos: 1, budgetNanos: 1e15 };
      expect((await admit(counters, ask(both))).rejectedByRow).toBe(findLimitRow('budget', 'project'));
    });

    test('budget: a budget of the project or organization set in mid-month includes earlier spend', async () => {
      const open = { projectBudgetNanos: 1e15, orgBudgetNanos: 1e15 };
      const before = await peek(counters, { limits: ask(open).limits, providerSlugs: [] });
      const [, project, org] = before!.spends.map(({ spentNanos }) => spentNanos);
      const settle = (limits: TestLimitsOptions): void =>
        counters.settle({
          limits: createTestLimits({ agentId, countsScopes: true, ...limits }),
          providerSlug: 'openai',
          admittedAtSec: nowSec,
          costNanos: 100,
          tokens: 0,
          reservationNanos: 0,
        });
      settle({});
      // The first call after the budget was set, while the ledger has no spend yet.
      const ofProject = await admit(counters, ask({ projectBudgetNanos: project! + 100 }));
      expect(ofProject).toMatchObject({ rejectedByRow: findLimitRow('budget', 'project'), spentNanos: project! + 100 });
      settle({ projectBudgetNanos: 1e15 }); // a budget on one of them, none on the other
      expect(await admit(counters, ask({ orgBudgetNanos: org! + 201 }))).toMatchObject({ rejectedByRow: -1 });
      const ofOrg = await admit(counters, ask({ orgBudgetNanos: org! + 200 }));
      expect(ofOrg).toMatchObject({ rejectedByRow: findLimitRow('budget', 'org'), spentNanos: org! + 200 });
      expect(await admit(counters, ask({ projectBudgetNanos: project! + 201 }))).toMatchObject({ rejectedByRow: -1 });
    });

    test('tpm: rejects when the tokens of ended calls reach the limit per provider, and reports when a call passes', async () => {
      const request = ask({ tpmLimit: 100 });
      const spend = (tokens: number): void =>
        counters.settle({
          limits: request.limits,
          providerSlug: 'openai',
          admittedAtSec: nowSec,
          costNanos: 0,
          tokens,
          reservationNanos: 0,
        });
      const before = await subject().nowMs();
      spend(99);
      expect((await admit(counters, request)).outcome).toBe('admitted');
      spend(1);
      const rejected = await admit(counters, request);
      expect(rejected).toMatchObject({ outcome: 'tpm', rejectedByRow: TPM_ROW });
      expect(rejected.retryAtSec).toBeGreaterThanOrEqual(Math.floor(before / 1000) + 60);
      expect(rejected.retryAtSec).toBeLessThanOrEqual(Math.ceil((await subject().nowMs()) / 1000) + 61);
      expect((await admit(counters, ask({ tpmLimit: 101 }))).outcome).toBe('admitted');
      expect((await admit(counters, ask({ tpmLimit: 100, providerSlug: 'anthropic' }))).outcome).toBe('admitted');
      expect((await admit(counters, ask({ tpmLimit: 1, rpdLimit: 1 }))).outcome).toBe('rpd');
      expect((await admit(counters, ask({ tpmLimit: 1, budgetNanos: 0 }))).outcome).toBe('tpm');
      const shown = await peek(counters, { limits: request.limits, providerSlugs: ['openai'] });
      expect(shown?.windows[0]?.remaining[TPM_ROW]).toBe(0);
    });

    test('tpm: tokens of calls that end in one tick count for their own agent and provider', async () => {
      const other = newAgentId();
      const pairs = [
        ask({ tpmLimit: 100 }),
        ask({ tpmLimit: 100, providerSlug: 'anthropic' }),
        ask({ tpmLimit: 100, agentId: other }),
      ];
      const spend = (tokens: number): void => {
        for (const { limits, providerSlug } of pairs) {
          counters.settle({
            limits,
            providerSlug,
            admittedAtSec: nowSec,
            costNanos: 0,
            tokens,
            reservationNanos: 0,
          });
        }
      };
      const answers = () => Promise.all(pairs.map(async (request) => (await admit(counters, request)).outcome));
      spend(60);
      expect(await answers()).toEqual(['admitted', 'admitted', 'admitted']);
      spend(40);
      expect(await answers()).toEqual(['tpm', 'tpm', 'tpm']);
    });

    test('tpm: tokens expire gradually after their minute', async () => {
      const short = await subject().open({ minute: 60_000, day: DAY_MS, tokenMinute: 120 });
      const request = ask({ tpmLimit: 10 });
      const settlement = { limits: request.limits, providerSlug: 'openai', admittedAtSec: nowSec, costNanos: 0 };
      for (let round = 0; round < 3; round++) {
        short.settle({ ...settlement, tokens: 6, reservationNanos: 0 });
        expect((await admit(short, request)).outcome).toBe('admitted');
        short.settle({ ...settlement, tokens: 4, reservationNanos: 0 });
        expect((await admit(short, request)).outcome).toBe('tpm');
        await subject().advance(125);
      }
      await short.close();
    });

    describe('reservations', () => {
      const hard = (reservationNanos: number, budgetNanos = 100) =>
        ask({ hardBudget: true, budgetNanos, reservationNanos });
      const settle = (reservationNanos: number, costNanos: number): void =>
        counters.settle({
          limits: hard(0).limits,
          providerSlug: 'openai',
          admittedAtSec: nowSec,
          costNanos,
          tokens: 0,
          reservationNanos,
        });

      test('admits while spend, live reservations and the own reservation fit; rejects above', async () => {
        const answers = await Promise.all(Array.from({ length: 6 }, () => admit(counters, hard(30))));
        expect(answers.map((answer) => answer.outcome)).toEqual([
          ...['admitted', 'admitted', 'admitted'],
          ...['budget', 'budget', 'budget'],
        ]);
        expect(answers[5]).toMatchObject({
          rejectedByRow: BUDGET_ROW,
          spentNanos: 0,
          reservedNanos: 90,
          reservationNanos: 30,
        });
        expect((await admit(counters, hard(11))).outcome).toBe('budget');
        expect((await admit(counters, hard(10))).outcome).toBe('admitted');
        expect((await admit(counters, hard(1))).outcome).toBe('budget');
      });

      test('checks different reservations of one batch in order of arrival', async () => {
        const { limits, providerSlug } = hard(0);
        const request = [60, 50, 40, 1].map((reservationNanos) => ({ limits, providerSlug, reservationNanos }));
        const answers = await Promise.all(request.map((one) => admit(counters, one)));
        expect(answers.map((answer) => answer.outcome)).toEqual(['admitted', 'budget', 'admitted', 'budget']);
      });

      test('settling replaces the reservation by the cost', async () => {
        expect((await admit(counters, hard(100))).outcome).toBe('admitted');
        expect((await admit(counters, hard(1))).outcome).toBe('budget');
        settle(100, 40);
        expect(await admit(counters, hard(60))).toMatchObject({ outcome: 'admitted', spentNanos: 40 });
        expect(await admit(counters, hard(1))).toMatchObject({ outcome: 'budget', spentNanos: 40, reservedNanos: 60 });
        settle(60, 0);
        expect((await admit(counters, hard(60))).outcome).toBe('admitted');
        expect((await admit(counters, hard(61))).outcome).toBe('budget');
      });

      test('rejects a call without a reservation only when the budget is spent', async () => {
        await admit(counters, hard(100));
        expect((await admit(counters, hard(0))).outcome).toBe('admitted');
        settle(100, 100);
        expect((await admit(counters, hard(0))).outcome).toBe('budget');
      });

      test('a call rejected by another limit takes no reservation', async () => {
        const request = { hardBudget: true, budgetNanos: 100, reservationNanos: 100 };
        expect((await admit(counters, ask({ ...request, rpmLimit: 1, providerSlug: 'anthropic' }))).outcome).toBe(
          'admitted',
        );
        settle(100, 0);
        expect((await admit(counters, ask({ ...request, rpmLimit: 1, providerSlug: 'anthropic' }))).outcome).toBe(
          'rpm',
        );
        expect((await admit(counters, hard(100))).outcome).toBe('admitted');
      });

      test('a reservation can grow while it fits', async () => {
        const { limits } = hard(0);
        const grow = (nanos: number): Promise<boolean> =>
          new Promise((resolve) => counters.growReservation(limits, nowSec, nanos, resolve));
        await admit(counters, hard(60));
        expect(await grow(30)).toBe(true);
        expect(await grow(11)).toBe(false);
        expect(await grow(10)).toBe(true);
        const shown = await peek(counters, { limits, providerSlugs: [] });
        expect(shown?.spends[0]).toMatchObject({ spentNanos: 0, reservedNanos: 100 });
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

    test('limits: requests of one batch with different limits each follow their own', async () => {
      const answers = await Promise.all([
        admit(counters, ask({ rpmLimit: 2 })),
        admit(counters, ask({ rpmLimit: 1 })),
        admit(counters, ask({ rpmLimit: 2 })),
      ]);
      expect(answers.map((answer) => answer.outcome)).toEqual(['admitted', 'rpm', 'admitted']);
    });

    test('peek: reports both windows and the spend, and consumes nothing', async () => {
      const { limits } = ask({ rpmLimit: 60, rpdLimit: 100 });
      const look = { limits, providerSlugs: ['openai', 'resend'] };
      await outcomes(3, ask({ rpmLimit: 60, rpdLimit: 100 }));
      settleSpend(counters, agentId, 42, nowSec);
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
    ])('peek: rejects with the same time as a rejected admission: %s', async (_what, options) => {
      expect(await outcomes(1, ask())).toEqual(['admitted']);
      await subject().advance(1_100);
      expect(await outcomes(1, ask())).toEqual(['admitted']);
      const { limits, providerSlug } = ask(options);
      counters.settle({ limits, providerSlug, admittedAtSec: nowSec, costNanos: 0, tokens: 100, reservationNanos: 0 });
      const rejected = await admit(counters, { limits, providerSlug, reservationNanos: 0 });
      const shown = await peek(counters, { limits, providerSlugs: [providerSlug] });
      expect(rejected.rejectedByRow).toBeGreaterThanOrEqual(0);
      const { takenAtSec } = shown!;
      expect(precheckLimits(shown!, limits)).toEqual(
        createLimitRejection({ ...rejected, admittedAtSec: takenAtSec }, limits),
      );
      expect(takenAtSec - Math.floor((await subject().nowMs()) / 1000)).toBeOneOf([-1, 0]);
    });

    test('rpm: admissions expire after the window, and the log works over many windows', async () => {
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

    test('rpd: a window starts with the first admitted request after the previous window', async () => {
      const short = await subject().open({ minute: 5, day: 50 });
      const request = ask({ rpdLimit: 2, rpmLimit: 1000 });
      for (let round = 0; round < 3; round++) {
        const answers = await Promise.all(Array.from({ length: 3 }, () => admit(short, request)));
        expect(answers.map((answer) => answer.outcome)).toEqual(['admitted', 'admitted', 'rpd']);
        await subject().advance(51);
      }
      await short.close();
    });
  });
}

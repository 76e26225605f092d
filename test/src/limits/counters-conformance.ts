/** What every implementation of `Counters` guarantees, run against each of them. */
import { DAY_MS } from '@acg/base/units';
import { formatMonth, monthEndSec, monthOfMs } from '@acg/dataplane/counters/calendar-month';
import type { AdmissionRequest, Counters } from '@acg/dataplane/counters/counters';
import { RPD_ROW, RPM_ROW } from '@acg/dataplane/counters/limit-table';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { admit, request, standing } from './counters-promises.js';

export interface Subject {
  /** Counters with windows of the given length, each with a view on the same store. */
  open(windows: { rpmMs: number; rpdMs: number }): Promise<Counters>;
  /** Lets the store's time pass. */
  advance(ms: number): Promise<void>;
  /** The store's time. */
  nowMs(): Promise<number>;
}

let sequence = 0;
const freshAgent = (): string => `00000000-0000-7000-8000-${String(++sequence).padStart(12, '0')}`;

export function describeCounters(name: string, subject: () => Subject): void {
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
      counters = await subject().open({ rpmMs: 60_000, rpdMs: DAY_MS });
      agentId = freshAgent();
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
      expect(await outcomes(2, ask({ rpmLimit: 1, agentId: freshAgent() }))).toEqual(['admitted', 'rpm']);
    });

    test('rpm: reset is when the oldest leaves; refused, when the next one passes', async () => {
      const before = await subject().nowMs();
      const first = await admit(counters, ask({ rpmLimit: 2 }));
      const second = await admit(counters, ask({ rpmLimit: 2 }));
      const refused = await admit(counters, ask({ rpmLimit: 2 }));
      const after = await subject().nowMs();
      for (const atSec of [first.rpmResetAtSec, second.rpmResetAtSec, refused.rpmResetAtSec, refused.passesAtSec]) {
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
      expect(refused.passesAtSec).toBeGreaterThanOrEqual(Math.ceil((before + DAY_MS) / 1000));
      expect(refused.passesAtSec).toBeLessThanOrEqual(Math.ceil((after + DAY_MS) / 1000));
      expect((await admit(counters, ask({ rpdLimit: 3 }))).rpmRemaining).toBe(57);
    });

    test('order: rpm before rpd before budget', async () => {
      const asked = { rpmLimit: 1, rpdLimit: 1, budgetNanos: 10, spendFloorNanos: 0 };
      expect((await admit(counters, ask(asked))).outcome).toBe('admitted');
      counters.addSpend(agentId, 10);
      expect((await admit(counters, ask(asked))).outcome).toBe('rpm');
      expect((await admit(counters, ask({ ...asked, rpmLimit: 2 }))).outcome).toBe('rpd');
      expect((await admit(counters, ask({ ...asked, rpmLimit: 2, rpdLimit: 2 }))).outcome).toBe('budget');
      expect((await admit(counters, ask({ ...asked, rpmLimit: 2, rpdLimit: 2, budgetNanos: 11 }))).outcome).toBe(
        'admitted',
      );
    });

    test('budget: to the nano-dollar, over all providers, until the month ends', async () => {
      const budgetNanos = 1_000_000_007;
      counters.addSpend(agentId, 1_000_000_006);
      const below = await admit(counters, ask({ budgetNanos }));
      expect(below).toMatchObject({ outcome: 'admitted', spentNanos: 1_000_000_006 });
      counters.addSpend(agentId, 1);
      const at = await admit(counters, ask({ budgetNanos, providerSlug: 'anthropic' }));
      expect(at).toMatchObject({ outcome: 'budget', spentNanos: 1_000_000_007 });
      expect(at.passesAtSec).toBe(monthEndSec(monthOfMs(await subject().nowMs())));
    });

    test('budget: zero lets nothing pass', async () => {
      expect((await admit(counters, ask({ budgetNanos: 0 }))).outcome).toBe('budget');
    });

    test('budget: a floor above the counter decides, one of another month does not', async () => {
      const asked = { budgetNanos: 100, spendFloorNanos: 100 };
      expect((await admit(counters, ask({ ...asked, spendFloorMonth: '1999-01' }))).outcome).toBe('admitted');
      const refused = await admit(counters, ask(asked));
      expect(refused).toMatchObject({ outcome: 'budget', spentNanos: 100 });
    });

    test('budget: a counter that does not exist yet goes on from the floor', async () => {
      const asked = { budgetNanos: 150, spendFloorNanos: 100 };
      expect(await admit(counters, ask(asked))).toMatchObject({ outcome: 'admitted', spentNanos: 100 });
      counters.addSpend(agentId, 50);
      expect(await admit(counters, ask(asked))).toMatchObject({ outcome: 'budget', spentNanos: 150 });
      expect(await admit(counters, ask({ budgetNanos: 151 }))).toMatchObject({ outcome: 'admitted', spentNanos: 150 });
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
      expect(answers.filter((answer) => answer.outcome === 'admitted')).toHaveLength(2);
    });

    test('standing: shows both windows and the spend, and consumes nothing', async () => {
      const { terms } = ask({ rpmLimit: 60, rpdLimit: 100 });
      const look = { terms, providerSlugs: ['openai', 'resend'] };
      await outcomes(3, ask({ rpmLimit: 60, rpdLimit: 100 }));
      counters.addSpend(agentId, 42);
      for (let i = 0; i < 2; i++) {
        const shown = await standing(counters, look);
        expect(shown?.spentNanos).toBe(42);
        expect(shown?.windows[0]).toMatchObject({ providerSlug: 'openai' });
        expect(shown?.windows[0]?.remaining[RPM_ROW]).toBe(57);
        expect(shown?.windows[0]?.remaining[RPD_ROW]).toBe(97);
        expect(shown?.windows[0]?.resetAtSec[RPM_ROW]).toBeGreaterThan((await subject().nowMs()) / 1000);
        expect(shown?.windows[1]?.remaining.slice(0, 2)).toEqual([60, 100]);
        expect(shown?.windows[1]?.resetAtSec.slice(0, 2)).toEqual([null, null]);
      }
    });

    test('rpm: what was admitted leaves after the window, and the log goes on over many windows', async () => {
      const short = await subject().open({ rpmMs: 40, rpdMs: DAY_MS });
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
      const short = await subject().open({ rpmMs: 5, rpdMs: 50 });
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

/** Promise forms of the `Counters` callbacks, and quiet stand-ins for log and metrics. */
import { createLogger, type Logger } from '@acg/base/log';
import { formatMonth, monthOfMs } from '@acg/dataplane/counters/calendar-month';
import type {
  Admission,
  AdmissionRequest,
  AgentStanding,
  Counters,
  CountersMetrics,
  StandingRequest,
} from '@acg/dataplane/counters/counters';
import { monthKey } from '@acg/dataplane/counters/purse';
import { type TestTerms, termsOf } from '@acg/dataplane/counters/testing/terms-fixture';
import type { Redis } from 'ioredis';

export const admit = (counters: Counters, request: AdmissionRequest): Promise<Admission> =>
  new Promise((resolve) => counters.admit(request, resolve));

export const standing = (counters: Counters, request: StandingRequest): Promise<AgentStanding | null> =>
  new Promise((resolve) => counters.standing(request, resolve));

export const silentLog = createLogger('test', 'silent');

export class CountingMetrics implements CountersMetrics {
  uncheckedCount = 0;
  readonly states: boolean[] = [];
  unchecked(count: number): void {
    this.uncheckedCount += count;
  }
  enforcing(enforcing: boolean): void {
    this.states.push(enforcing);
  }
  storeLatency(): void {}
}

/** A request without a budget, limits far away. */
export const request = ({ providerSlug = 'openai', holdNanos = 0, ...terms }: TestRequest = {}): AdmissionRequest => ({
  terms: termsOf(terms),
  providerSlug,
  holdNanos,
});

interface TestRequest extends TestTerms {
  readonly providerSlug?: string;
  readonly holdNanos?: number;
}

/** A call of this agent has cost so much. */
export function addSpend(
  counters: Pick<Counters, 'settle'>,
  agentId: string,
  costNanos: number,
  month = monthOfMs(Date.now()),
): void {
  const terms = termsOf({ agentId });
  counters.settle({ terms, providerSlug: 'openai', month, costNanos, tokens: 0, holdNanos: 0 });
}

/** Waits until `condition` holds; the test's own timeout is the bound. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 5));
}

/** Keeps what is logged: level and message. */
export function capturingLog(): { readonly log: Logger; readonly lines: string[] } {
  const lines: string[] = [];
  const at = (level: string) => (_facts: unknown, message: string) => void lines.push(`${level}: ${message}`);
  return { log: { warn: at('warn'), info: at('info') } as unknown as Logger, lines };
}

interface StoredHold {
  readonly sum: number;
  /** Unix µs. */
  readonly deadline: number;
}

/** What each data plane holds of the agent's budget, as the store has it (field `h`, see admit.lua). */
export async function storedHolds(store: Redis, agentId: string): Promise<readonly StoredHold[]> {
  const month = formatMonth(monthOfMs(Date.now()));
  const field = (await store.hgetBuffer(monthKey(agentId, month), 'h')) ?? Buffer.alloc(0);
  const holds: StoredHold[] = [];
  for (let from = 0; from < field.length; ) {
    const at = field.indexOf(0, from) + 1; // behind the writer's name
    holds.push({ sum: field.readDoubleLE(at), deadline: field.readDoubleLE(at + 8) });
    from = at + 24;
  }
  return holds;
}

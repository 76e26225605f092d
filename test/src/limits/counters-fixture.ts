/** Promise forms of the `Counters` callbacks, and silent stand-ins for log and metrics. */
import { createLogger, type Logger } from '@acg/base/log';
import { spendKey } from '@acg/dataplane/counters/redis/spend-counter';
import { calendarWindowAt } from '@acg/dataplane/limits/calendar-window';
import type {
  Admission,
  AdmissionRequest,
  Counters,
  CountersMetrics,
  LimitSnapshot,
  PeekRequest,
  ToolRate,
} from '@acg/dataplane/limits/counters-interface';
import { scopeTag } from '@acg/dataplane/limits/limit-table';
import { createTestLimits, type TestLimitsOptions } from '@acg/dataplane/limits/testing/agent-limits-fixture';
import type { Redis } from 'ioredis';

export const admit = (counters: Counters, request: AdmissionRequest): Promise<Admission> =>
  new Promise((resolve) => counters.admit(request, resolve));

export const peek = (counters: Counters, request: PeekRequest): Promise<LimitSnapshot | null> =>
  new Promise((resolve) => counters.peek(request, resolve));

export const silentLogger = createLogger('test', 'silent');

export class CountingMetrics implements CountersMetrics {
  uncheckedCount = 0;
  readonly states: boolean[] = [];
  countUnchecked(count: number): void {
    this.uncheckedCount += count;
  }
  setEnforcing(enforcing: boolean): void {
    this.states.push(enforcing);
  }
  isEvictable = false;
  setEvictable(isEvictable: boolean): void {
    this.isEvictable = isEvictable;
  }
  observeStoreLatency(): void {}
}

/** A request without a budget, with limits far away. */
export const createAdmissionRequest = ({
  providerSlug = 'openai',
  reservationNanos = 0,
  toolRate = null,
  ...limits
}: TestRequest = {}): AdmissionRequest => ({
  limits: createTestLimits(limits),
  providerSlug,
  reservationNanos,
  toolRate,
});

interface TestRequest extends TestLimitsOptions {
  readonly providerSlug?: string;
  readonly reservationNanos?: number;
  readonly toolRate?: ToolRate | null;
}

/** Settles a call of the agent with this cost. */
export function settleSpend(
  counters: Pick<Counters, 'settle'>,
  agentId: string,
  costNanos: number,
  admittedAtSec = Math.floor(Date.now() / 1000),
  orgId = 'org-1',
): void {
  const limits = createTestLimits({ orgId, agentId });
  counters.settle({ limits, providerSlug: 'openai', admittedAtSec, costNanos, tokens: 0, reservationNanos: 0 });
}

/** Waits until `condition` holds; the timeout of the test is the bound. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 5));
}

/** Records the level and message of each log line. */
export function captureLog(): { readonly log: Logger; readonly lines: string[] } {
  const lines: string[] = [];
  const at = (level: string) => (_facts: unknown, message: string) => void lines.push(`${level}: ${message}`);
  return { log: { warn: at('warn'), info: at('info') } as unknown as Logger, lines };
}

const thisMonth = () => calendarWindowAt('month', Date.now() / 1000);
/** Name of the current month, `YYYY-MM`. */
export const thisMonthName = (): string => thisMonth().name;
/** Key of an agent's spend in the store. */
export const agentSpendKey = (agentId: string, window = thisMonth(), orgId = 'org-1'): string =>
  spendKey(orgId, scopeTag('agent', agentId), window);

/** Spend of an agent in the store, of all writers. */
export const readStoredSpendNanos = async (store: Redis, agentId: string): Promise<number> =>
  Number(await store.hget(agentSpendKey(agentId), 'sum'));

interface StoredReservation {
  readonly field: string;
  readonly sum: number;
  /** Unix µs. */
  readonly deadline: number;
}

/** The reservations of each data plane in the store (docs/counters.md); without those of which all is released. */
export async function readStoredReservations(
  store: Redis,
  agentId: string,
  window = thisMonth(),
  key = agentSpendKey(agentId, window),
): Promise<readonly StoredReservation[]> {
  const packed = (await store.hgetBuffer(key, 'reservations')) ?? Buffer.alloc(0);
  const stored: StoredReservation[] = [];
  for (let at = 0; at < packed.length; ) {
    const end = packed.indexOf(0, at);
    const [deadline, , granted, released] = [0, 1, 2, 3].map((i) => packed.readDoubleLE(end + 1 + 8 * i));
    stored.push({ field: packed.toString('latin1', at, end), sum: granted! - released!, deadline: deadline! });
    at = end + 33;
  }
  return stored.filter(({ sum }) => sum > 0);
}

/**
 * A data plane of the previous release, as far as it keeps a hard budget of an agent and soft ones of its project and its
 * organization. Runs that release's script (admit.lua in this folder) on one Redis server.
 */
import { readFileSync } from 'node:fs';
import { previousSpendKey } from '@acg/dataplane/counters/redis/upgrade/previous-budgets';
import type { AgentLimits } from '@acg/dataplane/limits/agent-limits';
import { calendarWindowAt } from '@acg/dataplane/limits/calendar-window';
import type { Redis } from 'ioredis';

const SCRIPT = readFileSync(new URL('./admit.lua', import.meta.url), 'utf8');
const SPEND_TTL_SEC = 32 * 86_400;
const LEASE_US = 15_000_000;
const MINUTE_US = 60_000_000;
const DAY_US = 86_400_000_000;
const UINT32_MAX = 0xffff_ffff;

export class PreviousPlane {
  readonly #store: Redis;
  readonly #limits: AgentLimits;
  readonly #writer: string;
  #totalNanos = 0;
  #reservedNanos = 0;
  #releasedNanos = 0;
  #version = Date.now() * 1_000;

  /** `writer` names the run of the process; `limits` have a budget for the agent. */
  constructor(store: Redis, limits: AgentLimits, writer: string) {
    this.#store = store;
    this.#limits = limits;
    this.#writer = writer;
  }

  /** Asks for one call. Only the agent's budget takes the reservation. */
  async admit(reservationNanos: number): Promise<boolean> {
    const reply = await this.#run(1, reservationNanos);
    const { length } = this.#limits.budgets;
    const isAdmitted = reply.readUInt32LE(8 + 20 * length) === 1;
    if (isAdmitted) this.#reservedNanos += reservationNanos;
    return isAdmitted;
  }

  async settle(costNanos: number, reservationNanos: number): Promise<void> {
    this.#totalNanos += costNanos;
    this.#reservedNanos -= reservationNanos;
    this.#releasedNanos += reservationNanos;
    await this.#run(0, 0);
  }

  async #run(requests: number, reservationNanos: number): Promise<Buffer> {
    const nowSec = Date.now() / 1000;
    const month = calendarWindowAt('month', nowSec);
    const monthNumber = new Date(month.startSec * 1000).getUTCFullYear() * 12 + new Date(nowSec * 1000).getUTCMonth();
    const { budgets, checkedBudgets } = this.#limits;
    const released = this.#releasedNanos;
    this.#releasedNanos = 0;
    this.#version++;
    const argument = Buffer.concat([
      doubles(MINUTE_US, SPEND_TTL_SEC, LEASE_US),
      uint32(monthNumber),
      doubles(month.startSec, month.endSec),
      Buffer.from([0]), // no probe
      uint32(budgets.length, requests > 0 ? 1 : 0, 0),
      doubles(DAY_US, MINUTE_US),
      ...budgets.map((_, i) =>
        Buffer.concat([
          Buffer.from([i === 0 ? 3 : 1]), // the spend is needed; with reservations
          uint32(monthNumber),
          doubles(this.#totalNanos, 0, 0),
          uint32(0),
          Buffer.from(`${this.#writer}.${i}\0`, 'latin1'),
          i === 0 ? doubles(this.#version, this.#reservedNanos, released) : Buffer.alloc(0),
        ]),
      ),
      ...(requests === 0 ? [] : [this.#encodeCheck(requests, reservationNanos)]),
    ]);
    const keys = budgets.map((row) => previousSpendKey(row, month).replace(month.name, ''));
    const reply = await this.#store.callBuffer('EVAL', SCRIPT, keys.length, ...keys, argument, this.#writer);
    if (checkedBudgets.length === 0) throw new Error('the agent needs a budget');
    return reply as Buffer;
  }

  #encodeCheck(requests: number, reservationNanos: number): Buffer {
    const { budgets, checkedBudgets } = this.#limits;
    return Buffer.concat([
      Buffer.from([2]), // budgets only
      uint32(requests, UINT32_MAX, UINT32_MAX, UINT32_MAX),
      doubles(reservationNanos),
      Buffer.from([checkedBudgets.length]),
      ...checkedBudgets.map((row) =>
        Buffer.concat([uint32(budgets.indexOf(row) + 1), Buffer.from([row.tableRow + 1]), doubles(row.limitNanos)]),
      ),
    ]);
  }
}

function doubles(...values: readonly number[]): Buffer {
  const out = Buffer.alloc(8 * values.length);
  values.forEach((value, i) => void out.writeDoubleLE(value, 8 * i));
  return out;
}

function uint32(...values: readonly number[]): Buffer {
  const out = Buffer.alloc(4 * values.length);
  values.forEach((value, i) => void out.writeUInt32LE(value, 4 * i));
  return out;
}

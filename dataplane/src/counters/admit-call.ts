/**
 * The wire form of one admit.lua call: keys, one packed argument, one packed reply. Pure. Little-endian throughout;
 * doubles carry times (µs) and money (nano-dollars), both exact below 2^53.
 *
 *   argument  header {minute µs d, day µs d, spend TTL s d, seq d, month I4, its start s d, its end s d, raise B, mark B, budgets B, spends I4, looks I4}
 *             spend  {cost d, base d, month I4}
 *             look   {wanted I4, rpm I4, rpd I4, budget d, seen d, seen month I4, ledger d, ledger month I4}
 *   reply     header {now µs d, applied B, mark d}
 *             total d
 *             verdict {admitted I4, refusal B (row of the limit table from 1, 0 = none), rpm left I4, rpm reset µs d, free at µs d, rpd left I4, rpd reset µs d, spent d}
 */
import { monthEndSec, monthOfMs, monthStartSec } from './calendar-month.js';
import { BUDGET_ROW } from './limit-table.js';

/** Lengths of the windows; shortened by tests only (docs/contract.md#limits). */
export interface Windows {
  /** At most 4 294 s: stamps are 32 bits of µs. */
  readonly rpmMs: number;
  readonly rpdMs: number;
}

/**
 * docs/contract.md#limits. The minute is held 30 ms longer than it is: a request takes a moment from its admission to
 * the provider, the first ones of a connection more than later ones, and no 60 s *at the provider* may see more than
 * the limit (measured without it: 51 arrivals in 59 988 ms against a limit of 50).
 */
export const STANDARD_WINDOWS: Windows = { rpmMs: 60_030, rpdMs: 86_400_000 };
/** Expiry of a writer's mark in admit.lua. */
export const MARK_TTL_MS = 3_600_000;
const SPEND_TTL_SEC = 32 * 86_400;

/** Requests of one pair that came in one turn with the same limits. */
export interface Look {
  readonly agentId: string;
  readonly providerSlug: string;
  /** How many ask to pass; 0 = only look. */
  wanted: number;
  readonly rpmLimit: number;
  readonly rpdLimit: number;
  /** NO_BUDGET, SPEND_UNASKED or nano-dollars. */
  readonly budgetNanos: number;
  /** The highest month figure that the store itself has reported to this process. */
  readonly seenNanos: number;
  readonly seenMonth: number;
  readonly ledgerNanos: number;
  readonly ledgerMonth: number;
}

export const NO_BUDGET = -1;
/** Neither budget nor interest in the month's spend: the spend key is not touched. */
export const SPEND_UNASKED = -2;

export interface Spend {
  readonly agentId: string;
  readonly month: number;
  costNanos: number;
  /** Known to be spent before `costNanos`: what a lost counter starts from. */
  baseNanos: number;
}

interface CallHeader {
  readonly windows: Windows;
  /** The month by the caller's clock; the store's decides. */
  readonly month: number;
  /** Increases over the calls of one writer that carry a mark. */
  readonly seq: number;
  /** Counters that exist may be raised to the ledger's figure: no spend waits anywhere to be added. */
  readonly raise: boolean;
  /** Whether the writer's mark is checked and moved to `seq`. */
  readonly mark: boolean;
  /** Hash tag of the mark's key: any agent of the call's slot. */
  readonly tag: string;
  readonly writerId: string;
}

export interface Verdict {
  /** The first so many of `wanted` pass. */
  admitted: number;
  /** Row of the limit table that would refuse the next request; -1 = it would pass. */
  refusedBy: number;
  /** When the next request passes that check. */
  freeAtSec: number;
  rpmRemaining: number;
  /** When the oldest counted request leaves; null = none is counted. */
  rpmResetAtSec: number | null;
  rpdRemaining: number;
  rpdResetAtSec: number | null;
  /** The counter's figure; 0 when not asked for. */
  spentNanos: number;
}

export interface CallReply {
  /** Month of the store's clock. */
  readonly month: number;
  /** False: the writer's mark shows that an earlier attempt had arrived. */
  readonly applied: boolean;
  /** The writer's mark before this call: 0 = there was none; null = not asked for. */
  readonly mark: number | null;
  readonly verdicts: readonly Verdict[];
  /** Month totals after each spend; meaningless when not applied. */
  readonly totals: readonly number[];
}

const HEADER_BYTES = 63;
const LOOK_BYTES = 44;
const SPEND_BYTES = 20;
const REPLY_HEADER_BYTES = 17;
const VERDICT_BYTES = 45;
const UINT32_MAX = 0xffff_ffff;

export const pairKey = (agentId: string, providerSlug: string): string => `acg:{${agentId}}:p:${providerSlug}`;
const spendKeyPrefix = (agentId: string): string => `acg:{${agentId}}:spend:`;

/** KEYS of a call; see admit.lua. */
export function callKeys(header: CallHeader, spends: readonly Spend[], looks: readonly Look[]): string[] {
  const keys = [`acg:{${header.tag}}:w:${header.writerId}`];
  for (const spend of spends) keys.push(spendKeyPrefix(spend.agentId));
  for (const look of looks) {
    keys.push(pairKey(look.agentId, look.providerSlug));
    if (look.budgetNanos !== SPEND_UNASKED) keys.push(spendKeyPrefix(look.agentId));
  }
  return keys;
}

/** ARGV[1] of a call. */
export function encodeCall(header: CallHeader, spends: readonly Spend[], looks: readonly Look[]): Buffer {
  const out = Buffer.allocUnsafe(HEADER_BYTES + spends.length * SPEND_BYTES + looks.length * LOOK_BYTES);
  out.writeDoubleLE(header.windows.rpmMs * 1000, 0);
  out.writeDoubleLE(header.windows.rpdMs * 1000, 8);
  out.writeDoubleLE(SPEND_TTL_SEC, 16);
  out.writeDoubleLE(header.seq, 24);
  out.writeUInt32LE(header.month, 32);
  out.writeDoubleLE(monthStartSec(header.month), 36);
  out.writeDoubleLE(monthEndSec(header.month), 44);
  out[52] = header.raise ? 1 : 0;
  out[53] = header.mark ? 1 : 0;
  out[54] = looks.some((look) => look.budgetNanos !== SPEND_UNASKED) ? 1 : 0;
  out.writeUInt32LE(spends.length, 55);
  out.writeUInt32LE(looks.length, 59);
  let at = HEADER_BYTES;
  for (const spend of spends) {
    out.writeDoubleLE(spend.costNanos, at);
    out.writeDoubleLE(spend.baseNanos, at + 8);
    out.writeUInt32LE(spend.month, at + 16);
    at += SPEND_BYTES;
  }
  for (const look of looks) {
    out.writeUInt32LE(look.wanted, at);
    out.writeUInt32LE(clampUint32(look.rpmLimit), at + 4);
    out.writeUInt32LE(clampUint32(look.rpdLimit), at + 8);
    out.writeDoubleLE(look.budgetNanos, at + 12);
    out.writeDoubleLE(look.seenNanos, at + 20);
    out.writeUInt32LE(clampUint32(look.seenMonth), at + 28);
    out.writeDoubleLE(look.ledgerNanos, at + 32);
    out.writeUInt32LE(clampUint32(look.ledgerMonth), at + 40);
    at += LOOK_BYTES;
  }
  return out;
}

/** Null: not what the call asks for. */
export function decodeReply(reply: Buffer | null, spends: number, looks: number): CallReply | null {
  const size = REPLY_HEADER_BYTES + spends * 8 + looks * VERDICT_BYTES;
  if (reply === null || reply.length !== size) return null;
  const verdicts: Verdict[] = [];
  const totals: number[] = [];
  const month = monthOfMs(reply.readDoubleLE(0) / 1000);
  let at = REPLY_HEADER_BYTES;
  for (let i = 0; i < spends; i++, at += 8) totals.push(reply.readDoubleLE(at));
  for (let i = 0; i < looks; i++, at += VERDICT_BYTES) verdicts.push(decodeVerdict(reply, at, month));
  const mark = reply.readDoubleLE(9);
  return { month, applied: reply[8] === 1, mark: mark < 0 ? null : mark, verdicts, totals };
}

function decodeVerdict(reply: Buffer, at: number, month: number): Verdict {
  const refusedBy = reply[at + 4]! - 1;
  return {
    admitted: reply.readUInt32LE(at),
    refusedBy,
    freeAtSec: refusedBy === BUDGET_ROW ? monthEndSec(month) : wholeSeconds(reply.readDoubleLE(at + 17)),
    rpmRemaining: reply.readUInt32LE(at + 5),
    rpmResetAtSec: wholeSeconds(reply.readDoubleLE(at + 9)) || null,
    rpdRemaining: reply.readUInt32LE(at + 25),
    rpdResetAtSec: wholeSeconds(reply.readDoubleLE(at + 29)) || null,
    spentNanos: reply.readDoubleLE(at + 37),
  };
}

/** Rounded up: at that second the thing has happened. */
const wholeSeconds = (us: number): number => Math.ceil(us / 1_000_000);
const clampUint32 = (value: number): number => (value < 0 ? 0 : Math.min(value, UINT32_MAX));

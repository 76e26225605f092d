/**
 * The wire form of one admit.lua call: keys, one packed argument, one packed reply. Pure. Little-endian throughout;
 * doubles carry times (µs) and money (nano-dollars), both exact below 2^53.
 *
 *   argument  header  {minute µs d, spend TTL s d, hold lease µs d, month I4, its start s d, its end s d, probe B,
 *                      purses I4, pair checks I4, token items I4, fixed windows µs d …, minute of tokens µs d}
 *             purse   {flags B: 1 asked for, 2 holds; month I4, own total d, ledger d, ledger's own d, their month I4,
 *                      field s; with holds: version d, base d, released d}
 *             token   {tokens d}
 *             check   {flags B: 1 pair, 2 more; wanted I4, rpm I4, fixed limits I4 …; with more: token limits I4 …, hold d,
 *                      checks B, per check: purse from 1 I4, row of the limit table from 1 B, budget d}
 *   reply     header  {now µs d}
 *             purse   {the store's month I4, own total found d, spent d}
 *             check   {admitted I4, refusal B (row from 1), free at µs d, left I4 and reset µs d of requests and of each
 *                      fixed limit; with more: the same of each token limit, spent d, held d}
 */
import { monthEndSec, monthStartSec } from './calendar-month.js';
import type { CallItems, PairCheck, PurseItem } from './call-items.js';
import {
  LIMIT_TABLE,
  PAIR_ROWS,
  RPM_ROW,
  rowsCounted,
  TOKEN_ROWS,
  UNLIMITED,
  type Windows,
  windowUs,
} from './limit-table.js';

/** How long a hold counts without being renewed. */
export const HOLD_LEASE_MS = 15_000;
const SPEND_TTL_SEC = 32 * 86_400;

interface CallHeader {
  readonly windows: Windows;
  /** The month by the caller's clock; the store's decides. */
  readonly month: number;
  /** Whether the store can be written to is to be found out. */
  readonly probe: boolean;
  /** Hash tag of the key that a probe writes: one of the call's slot. */
  readonly probeTag: string;
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
  /** Of the scope that refuses, else of the first that was checked; 0 when none was. */
  spentNanos: number;
  heldNanos: number;
  /** By row of the limit table; null where nothing was wanted but to pass. */
  remaining: readonly number[] | null;
  resetAtSec: readonly (number | null)[] | null;
}

interface PurseReply {
  /** The own total that the store had before. */
  readonly foundNanos: number;
  readonly spentNanos: number;
}

export interface CallReply {
  /** Month of the store's clock; of the caller's where the call had no purse. */
  readonly month: number;
  readonly purses: readonly PurseReply[];
  readonly verdicts: readonly Verdict[];
}

const FIXED_ROWS = rowsCounted('fixed');

const HEADER_BYTES = 65 + 8 * FIXED_ROWS.length;
const PURSE_BYTES = 33;
const HOLD_BYTES = 24;
const PAIR_CHECK_BYTES = 9 + 4 * FIXED_ROWS.length;
const MORE_BYTES = 9 + 4 * TOKEN_ROWS.length;
const CHECK_BYTES = 13;
const TOKEN_BYTES = 8;
const REPLY_HEADER_BYTES = 8;
const PURSE_REPLY_BYTES = 20;
const PAIR_FIGURES_BYTES = 12;
const VERDICT_BYTES = 13 + PAIR_FIGURES_BYTES * (PAIR_ROWS.length - TOKEN_ROWS.length);
const MORE_VERDICT_BYTES = 16 + PAIR_FIGURES_BYTES * TOKEN_ROWS.length;
const UINT32_MAX = 0xffff_ffff;

/** A table with another number of fixed windows has footers of another size. */
const PAIR = FIXED_ROWS.length === 1 ? '}:p:' : `}:p${FIXED_ROWS.length}:`;
export const pairKey = (agentId: string, providerSlug: string): string => `acg:{${agentId}${PAIR}${providerSlug}`;
const tokenKey = (agentId: string, providerSlug: string, row: number): string =>
  `acg:{${agentId}}:${LIMIT_TABLE[row]!.type}:${providerSlug}`;

/** KEYS of a call; see admit.lua. */
export function callKeys(header: CallHeader, { purses, pairChecks, tokens }: CallItems): string[] {
  const keys: string[] = [];
  if (header.probe) keys.push(`acg:{${header.probeTag}}:probe`);
  for (const { purse } of purses) keys.push(purse.monthKey);
  for (const { agentId, providerSlug, row } of tokens) keys.push(tokenKey(agentId, providerSlug, row));
  for (const { terms, providerSlug } of pairChecks) {
    if (providerSlug === null) continue;
    keys.push(pairKey(terms.agentId, providerSlug));
    for (const row of TOKEN_ROWS) {
      if (terms.limits[row] !== UNLIMITED) keys.push(tokenKey(terms.agentId, providerSlug, row));
    }
  }
  return keys;
}

/** ARGV[1] of a call. Says what the purses have now: to be called when it is sent. */
export function encodeCall(header: CallHeader, items: CallItems): Buffer {
  const out = Buffer.allocUnsafe(callBytes(items));
  let at = writeHeader(out, header, items);
  for (const item of items.purses) at = writePurse(out, at, item);
  for (const { tokens } of items.tokens) at = out.writeDoubleLE(tokens, at);
  for (const pairCheck of items.pairChecks) at = writePairCheck(out, at, pairCheck);
  return out;
}

function callBytes({ purses, pairChecks, tokens }: CallItems): number {
  let bytes = HEADER_BYTES + pairChecks.length * PAIR_CHECK_BYTES + tokens.length * TOKEN_BYTES;
  for (const { total, holds } of purses) {
    bytes += PURSE_BYTES + 1 + (total === null ? 0 : total.field.length) + (holds ? HOLD_BYTES : 0);
  }
  for (const pairCheck of pairChecks) {
    if (hasMore(pairCheck)) bytes += MORE_BYTES + pairCheck.checks.length * CHECK_BYTES;
  }
  return bytes;
}

/** Whether there is more to it than counting requests, or more is asked for. */
function hasMore({ terms, providerSlug, wanted, holdNanos, checks }: PairCheck): boolean {
  if (wanted === 0 || checks.length > 0 || holdNanos > 0) return true;
  if (providerSlug === null) return false;
  for (let i = 0; i < TOKEN_ROWS.length; i++) if (terms.limits[TOKEN_ROWS[i]!] !== UNLIMITED) return true;
  return false;
}

function writeHeader(out: Buffer, header: CallHeader, { purses, pairChecks, tokens }: CallItems): number {
  out.set(begin.of(header));
  out[44] = header.probe ? 1 : 0;
  out.writeUInt32LE(purses.length, 45);
  out.writeUInt32LE(pairChecks.length, 49);
  out.writeUInt32LE(tokens.length, 53);
  return HEADER_BYTES;
}

/** The header of a month with nothing in its call: nearly all of it stays the same from call to call. */
class HeaderBegin {
  readonly #bytes = Buffer.alloc(HEADER_BYTES);
  #windows: Windows | null = null;
  #month = 0;

  of({ windows, month }: CallHeader): Buffer {
    if (windows !== this.#windows || month !== this.#month) this.#write(windows, month);
    return this.#bytes;
  }

  #write(windows: Windows, month: number): void {
    this.#windows = windows;
    this.#month = month;
    const out = this.#bytes;
    out.writeDoubleLE(windows.minute * 1000, 0);
    out.writeDoubleLE(SPEND_TTL_SEC, 8);
    out.writeDoubleLE(HOLD_LEASE_MS * 1000, 16);
    out.writeUInt32LE(month, 24);
    out.writeDoubleLE(monthStartSec(month), 28);
    out.writeDoubleLE(monthEndSec(month), 36);
    let at = 57;
    for (let i = 0; i < FIXED_ROWS.length; i++, at += 8) out.writeDoubleLE(windowUs(FIXED_ROWS[i]!, windows), at);
    out.writeDoubleLE(windows.tokenMinute * 1000, at);
  }
}

const begin = new HeaderBegin();

function writePurse(out: Buffer, start: number, item: PurseItem): number {
  const { purse, total, asked, holds } = item;
  out[start] = (asked ? 1 : 0) + (holds ? 2 : 0);
  out.writeUInt32LE(total === null ? 0 : total.month, start + 1);
  out.writeDoubleLE(total === null ? 0 : total.nanos, start + 5);
  out.writeDoubleLE(purse.ledgerNanos, start + 13);
  out.writeDoubleLE(purse.ledgerOwnNanos, start + 21);
  out.writeUInt32LE(Math.max(0, purse.ledgerMonth), start + 29);
  let at = start + PURSE_BYTES;
  if (total !== null) at += out.write(total.field, at, 'latin1');
  out[at++] = 0;
  if (!holds) return at;
  const released = purse.takeReleased();
  out.writeDoubleLE(purse.holdVersion, at);
  out.writeDoubleLE(purse.holdNanos, at + 8);
  out.writeDoubleLE(released, at + 16);
  return at + HOLD_BYTES;
}

function writePairCheck(out: Buffer, start: number, pairCheck: PairCheck): number {
  const { limits } = pairCheck.terms;
  let at = start;
  const more = hasMore(pairCheck);
  out[at] = (pairCheck.providerSlug === null ? 0 : 1) + (more ? 2 : 0);
  out.writeUInt32LE(pairCheck.wanted, at + 1);
  out.writeUInt32LE(uint32(limits[RPM_ROW]!), at + 5);
  at += 9;
  for (let i = 0; i < FIXED_ROWS.length; i++, at += 4) out.writeUInt32LE(uint32(limits[FIXED_ROWS[i]!]!), at);
  if (!more) return at;
  for (let i = 0; i < TOKEN_ROWS.length; i++, at += 4) {
    out.writeUInt32LE(pairCheck.providerSlug === null ? UINT32_MAX : uint32(limits[TOKEN_ROWS[i]!]!), at);
  }
  out.writeDoubleLE(pairCheck.holdNanos, at);
  out[at + 8] = pairCheck.checks.length;
  at += 9;
  for (let i = 0; i < pairCheck.checks.length; i++, at += CHECK_BYTES) {
    const { purseIndex, row, budgetNanos } = pairCheck.checks[i]!;
    out.writeUInt32LE(purseIndex + 1, at);
    out[at + 4] = row + 1;
    out.writeDoubleLE(budgetNanos, at + 5);
  }
  return at;
}

/** Null: not what the call asks for. `month`: by the caller's clock. */
export function decodeReply(reply: Buffer | null, { purses, pairChecks }: CallItems, month: number): CallReply | null {
  let size = REPLY_HEADER_BYTES + purses.length * PURSE_REPLY_BYTES + pairChecks.length * VERDICT_BYTES;
  for (let i = 0; i < pairChecks.length; i++) if (hasMore(pairChecks[i]!)) size += MORE_VERDICT_BYTES;
  if (reply === null || reply.length !== size) return null;
  const storeMonth = purses.length > 0 ? reply.readUInt32LE(REPLY_HEADER_BYTES) : month;
  let at = REPLY_HEADER_BYTES;
  const purseReplies: PurseReply[] = [];
  for (let i = 0; i < purses.length; i++, at += PURSE_REPLY_BYTES) {
    purseReplies.push({ foundNanos: reply.readDoubleLE(at + 4), spentNanos: reply.readDoubleLE(at + 12) });
  }
  const verdicts: Verdict[] = [];
  for (let i = 0; i < pairChecks.length; i++) {
    const more = hasMore(pairChecks[i]!);
    verdicts.push(decodeVerdict(reply, at, storeMonth, more, pairChecks[i]!.wanted === 0));
    at += more ? VERDICT_BYTES + MORE_VERDICT_BYTES : VERDICT_BYTES;
  }
  return { month: storeMonth, purses: purseReplies, verdicts };
}

function decodeVerdict(reply: Buffer, at: number, month: number, more: boolean, isStanding: boolean): Verdict {
  const refusedBy = reply[at + 4]! - 1;
  const isMoney = refusedBy >= PAIR_ROWS.length;
  const figures = at + 13;
  const tail = figures + PAIR_FIGURES_BYTES * PAIR_ROWS.length;
  return {
    admitted: reply.readUInt32LE(at),
    refusedBy,
    freeAtSec: isMoney ? monthEndSec(month) : wholeSeconds(reply.readDoubleLE(at + 5)),
    rpmRemaining: reply.readUInt32LE(figures),
    rpmResetAtSec: wholeSeconds(reply.readDoubleLE(figures + 4)) || null,
    spentNanos: more ? reply.readDoubleLE(tail) : 0,
    heldNanos: more ? reply.readDoubleLE(tail + 8) : 0,
    remaining: isStanding ? PAIR_ROWS.map((_, i) => reply.readUInt32LE(figures + PAIR_FIGURES_BYTES * i)) : null,
    resetAtSec: isStanding
      ? PAIR_ROWS.map((_, i) => wholeSeconds(reply.readDoubleLE(figures + PAIR_FIGURES_BYTES * i + 4)) || null)
      : null,
  };
}

/** Rounded up: at that second the thing has happened. */
const wholeSeconds = (us: number): number => Math.ceil(us / 1_000_000);
const uint32 = (value: number): number => (value < 0 ? 0 : Math.min(value, UINT32_MAX));

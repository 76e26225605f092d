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
import { monthEndSec, monthStartSec } from '../../limits/calendar-month.js';
import {
  AGENT_PROVIDER_ROWS,
  LIMIT_TABLE,
  RPM_ROW,
  rowsCountedAs,
  TOKEN_ROWS,
  UNLIMITED,
  type WindowLengthsMs,
  windowLengthUs,
} from '../../limits/limit-table.js';
import type { AdmissionCheck, AdmitItems, SpendItem } from './admit-items.js';

/** How long a hold counts without being renewed. */
export const RESERVATION_LEASE_MS = 15_000;
const SPEND_KEY_TTL_SEC = 32 * 86_400;

interface AdmitHeader {
  readonly windows: WindowLengthsMs;
  /** The month by the caller's clock; the store's decides. */
  readonly month: number;
  /** Whether the store can be written to is to be found out. */
  readonly probe: boolean;
  /** Hash tag of the key that a probe writes: one of the call's slot. */
  readonly probeTag: string;
}

export interface AdmitVerdict {
  /** The first so many of `wanted` pass. */
  admittedCount: number;
  /** Row of the limit table that would refuse the next request; -1 = it would pass. */
  rejectedByRow: number;
  /** When the next request passes that check. */
  retryAtSec: number;
  rpmRemaining: number;
  /** When the oldest counted request leaves; null = none is counted. */
  rpmResetAtSec: number | null;
  /** Of the scope that refuses, else of the first that was checked; 0 when none was. */
  spentNanos: number;
  reservedNanos: number;
  /** By row of the limit table; null where nothing was wanted but to pass. */
  remaining: readonly number[] | null;
  resetAtSec: readonly (number | null)[] | null;
}

interface SpendReply {
  /** The own total that the store had before. */
  readonly previousTotalNanos: number;
  readonly spentNanos: number;
}

export interface AdmitReply {
  /** Month of the store's clock; of the caller's where the call had no purse. */
  readonly month: number;
  readonly spends: readonly SpendReply[];
  readonly verdicts: readonly AdmitVerdict[];
}

const FIXED_ROWS = rowsCountedAs('fixed');

const HEADER_BYTES = 65 + 8 * FIXED_ROWS.length;
const SPEND_BYTES = 33;
const RESERVATION_BYTES = 24;
const ADMISSION_CHECK_BYTES = 9 + 4 * FIXED_ROWS.length;
const EXTENSION_BYTES = 9 + 4 * TOKEN_ROWS.length;
const BUDGET_CHECK_BYTES = 13;
const TOKEN_ITEM_BYTES = 8;
const REPLY_HEADER_BYTES = 8;
const SPEND_REPLY_BYTES = 20;
const LIMIT_FIGURES_BYTES = 12;
const VERDICT_BYTES = 13 + LIMIT_FIGURES_BYTES * (AGENT_PROVIDER_ROWS.length - TOKEN_ROWS.length);
const EXTENSION_VERDICT_BYTES = 16 + LIMIT_FIGURES_BYTES * TOKEN_ROWS.length;
const UINT32_MAX = 0xffff_ffff;

/** A table with another number of fixed windows has footers of another size. */
const PAIR = FIXED_ROWS.length === 1 ? '}:p:' : `}:p${FIXED_ROWS.length}:`;
export const agentProviderKey = (agentId: string, providerSlug: string): string =>
  `acg:{${agentId}${PAIR}${providerSlug}`;
const tokenWindowKey = (agentId: string, providerSlug: string, row: number): string =>
  `acg:{${agentId}}:${LIMIT_TABLE[row]!.type}:${providerSlug}`;

/** KEYS of a call; see admit.lua. */
export function listAdmitKeys(
  header: AdmitHeader,
  { spends: purses, admissionChecks: pairChecks, tokens }: AdmitItems,
): string[] {
  const keys: string[] = [];
  if (header.probe) keys.push(`acg:{${header.probeTag}}:probe`);
  for (const { counter: purse } of purses) keys.push(purse.monthKeyPrefix);
  for (const { agentId, providerSlug, row } of tokens) keys.push(tokenWindowKey(agentId, providerSlug, row));
  for (const { limits: terms, providerSlug } of pairChecks) {
    if (providerSlug === null) continue;
    keys.push(agentProviderKey(terms.agentId, providerSlug));
    for (const row of TOKEN_ROWS) {
      if (terms.byRow[row] !== UNLIMITED) keys.push(tokenWindowKey(terms.agentId, providerSlug, row));
    }
  }
  return keys;
}

/** ARGV[1] of a call. Says what the purses have now: to be called when it is sent. */
export function encodeAdmitArgument(header: AdmitHeader, items: AdmitItems): Buffer {
  const out = Buffer.allocUnsafe(encodedLength(items));
  let at = writeHeader(out, header, items);
  for (const item of items.spends) at = writeSpendItem(out, at, item);
  for (const { tokens } of items.tokens) at = out.writeDoubleLE(tokens, at);
  for (const pairCheck of items.admissionChecks) at = writeAdmissionCheck(out, at, pairCheck);
  return out;
}

function encodedLength({ spends: purses, admissionChecks: pairChecks, tokens }: AdmitItems): number {
  let bytes = HEADER_BYTES + pairChecks.length * ADMISSION_CHECK_BYTES + tokens.length * TOKEN_ITEM_BYTES;
  for (const { total, hasReservations: holds } of purses) {
    bytes += SPEND_BYTES + 1 + (total === null ? 0 : total.field.length) + (holds ? RESERVATION_BYTES : 0);
  }
  for (const pairCheck of pairChecks) {
    if (hasExtension(pairCheck)) bytes += EXTENSION_BYTES + pairCheck.budgetChecks.length * BUDGET_CHECK_BYTES;
  }
  return bytes;
}

/** Whether there is more to it than counting requests, or more is asked for. */
function hasExtension({
  limits: terms,
  providerSlug,
  requestCount: wanted,
  reservationNanos: holdNanos,
  budgetChecks: checks,
}: AdmissionCheck): boolean {
  if (wanted === 0 || checks.length > 0 || holdNanos > 0) return true;
  if (providerSlug === null) return false;
  for (let i = 0; i < TOKEN_ROWS.length; i++) if (terms.byRow[TOKEN_ROWS[i]!] !== UNLIMITED) return true;
  return false;
}

function writeHeader(
  out: Buffer,
  header: AdmitHeader,
  { spends: purses, admissionChecks: pairChecks, tokens }: AdmitItems,
): number {
  out.set(headerTemplate.bytesFor(header));
  out[44] = header.probe ? 1 : 0;
  out.writeUInt32LE(purses.length, 45);
  out.writeUInt32LE(pairChecks.length, 49);
  out.writeUInt32LE(tokens.length, 53);
  return HEADER_BYTES;
}

/** The header of a month with nothing in its call: nearly all of it stays the same from call to call. */
class HeaderTemplate {
  readonly #bytes = Buffer.alloc(HEADER_BYTES);
  #windows: WindowLengthsMs | null = null;
  #month = 0;

  bytesFor({ windows, month }: AdmitHeader): Buffer {
    if (windows !== this.#windows || month !== this.#month) this.#write(windows, month);
    return this.#bytes;
  }

  #write(windows: WindowLengthsMs, month: number): void {
    this.#windows = windows;
    this.#month = month;
    const out = this.#bytes;
    out.writeDoubleLE(windows.minute * 1000, 0);
    out.writeDoubleLE(SPEND_KEY_TTL_SEC, 8);
    out.writeDoubleLE(RESERVATION_LEASE_MS * 1000, 16);
    out.writeUInt32LE(month, 24);
    out.writeDoubleLE(monthStartSec(month), 28);
    out.writeDoubleLE(monthEndSec(month), 36);
    let at = 57;
    for (let i = 0; i < FIXED_ROWS.length; i++, at += 8) out.writeDoubleLE(windowLengthUs(FIXED_ROWS[i]!, windows), at);
    out.writeDoubleLE(windows.tokenMinute * 1000, at);
  }
}

const headerTemplate = new HeaderTemplate();

function writeSpendItem(out: Buffer, start: number, item: SpendItem): number {
  const { counter: purse, total, needsSpent: asked, hasReservations: holds } = item;
  out[start] = (asked ? 1 : 0) + (holds ? 2 : 0);
  out.writeUInt32LE(total === null ? 0 : total.month, start + 1);
  out.writeDoubleLE(total === null ? 0 : total.nanos, start + 5);
  out.writeDoubleLE(purse.ledgerNanos, start + 13);
  out.writeDoubleLE(purse.ledgerOwnNanos, start + 21);
  out.writeUInt32LE(Math.max(0, purse.ledgerMonth), start + 29);
  let at = start + SPEND_BYTES;
  if (total !== null) at += out.write(total.field, at, 'latin1');
  out[at++] = 0;
  if (!holds) return at;
  const released = purse.takeReleasedNanos();
  out.writeDoubleLE(purse.reservationVersion, at);
  out.writeDoubleLE(purse.reservedNanos, at + 8);
  out.writeDoubleLE(released, at + 16);
  return at + RESERVATION_BYTES;
}

function writeAdmissionCheck(out: Buffer, start: number, pairCheck: AdmissionCheck): number {
  const { byRow: limits } = pairCheck.limits;
  let at = start;
  const more = hasExtension(pairCheck);
  out[at] = (pairCheck.providerSlug === null ? 0 : 1) + (more ? 2 : 0);
  out.writeUInt32LE(pairCheck.requestCount, at + 1);
  out.writeUInt32LE(clampToUint32(limits[RPM_ROW]!), at + 5);
  at += 9;
  for (let i = 0; i < FIXED_ROWS.length; i++, at += 4) out.writeUInt32LE(clampToUint32(limits[FIXED_ROWS[i]!]!), at);
  if (!more) return at;
  for (let i = 0; i < TOKEN_ROWS.length; i++, at += 4) {
    out.writeUInt32LE(pairCheck.providerSlug === null ? UINT32_MAX : clampToUint32(limits[TOKEN_ROWS[i]!]!), at);
  }
  out.writeDoubleLE(pairCheck.reservationNanos, at);
  out[at + 8] = pairCheck.budgetChecks.length;
  at += 9;
  for (let i = 0; i < pairCheck.budgetChecks.length; i++, at += BUDGET_CHECK_BYTES) {
    const { spendIndex: purseIndex, row, budgetNanos } = pairCheck.budgetChecks[i]!;
    out.writeUInt32LE(purseIndex + 1, at);
    out[at + 4] = row + 1;
    out.writeDoubleLE(budgetNanos, at + 5);
  }
  return at;
}

/** Null: not what the call asks for. `month`: by the caller's clock. */
export function decodeAdmitReply(
  reply: Buffer | null,
  { spends: purses, admissionChecks: pairChecks }: AdmitItems,
  month: number,
): AdmitReply | null {
  let size = REPLY_HEADER_BYTES + purses.length * SPEND_REPLY_BYTES + pairChecks.length * VERDICT_BYTES;
  for (let i = 0; i < pairChecks.length; i++) if (hasExtension(pairChecks[i]!)) size += EXTENSION_VERDICT_BYTES;
  if (reply === null || reply.length !== size) return null;
  const storeMonth = purses.length > 0 ? reply.readUInt32LE(REPLY_HEADER_BYTES) : month;
  let at = REPLY_HEADER_BYTES;
  const purseReplies: SpendReply[] = [];
  for (let i = 0; i < purses.length; i++, at += SPEND_REPLY_BYTES) {
    purseReplies.push({ previousTotalNanos: reply.readDoubleLE(at + 4), spentNanos: reply.readDoubleLE(at + 12) });
  }
  const verdicts: AdmitVerdict[] = [];
  for (let i = 0; i < pairChecks.length; i++) {
    const more = hasExtension(pairChecks[i]!);
    verdicts.push(decodeVerdict(reply, at, storeMonth, more, pairChecks[i]!.requestCount === 0));
    at += more ? VERDICT_BYTES + EXTENSION_VERDICT_BYTES : VERDICT_BYTES;
  }
  return { month: storeMonth, spends: purseReplies, verdicts };
}

function decodeVerdict(reply: Buffer, at: number, month: number, hasExtension: boolean, isPeek: boolean): AdmitVerdict {
  const refusedBy = reply[at + 4]! - 1;
  const isMoney = refusedBy >= AGENT_PROVIDER_ROWS.length;
  const figures = at + 13;
  const tail = figures + LIMIT_FIGURES_BYTES * AGENT_PROVIDER_ROWS.length;
  return {
    admittedCount: reply.readUInt32LE(at),
    rejectedByRow: refusedBy,
    retryAtSec: isMoney ? monthEndSec(month) : ceilToSeconds(reply.readDoubleLE(at + 5)),
    rpmRemaining: reply.readUInt32LE(figures),
    rpmResetAtSec: ceilToSeconds(reply.readDoubleLE(figures + 4)) || null,
    spentNanos: hasExtension ? reply.readDoubleLE(tail) : 0,
    reservedNanos: hasExtension ? reply.readDoubleLE(tail + 8) : 0,
    remaining: isPeek ? AGENT_PROVIDER_ROWS.map((_, i) => reply.readUInt32LE(figures + LIMIT_FIGURES_BYTES * i)) : null,
    resetAtSec: isPeek
      ? AGENT_PROVIDER_ROWS.map(
          (_, i) => ceilToSeconds(reply.readDoubleLE(figures + LIMIT_FIGURES_BYTES * i + 4)) || null,
        )
      : null,
  };
}

/** Rounded up: at that second the thing has happened. */
const ceilToSeconds = (us: number): number => Math.ceil(us / 1_000_000);
const clampToUint32 = (value: number): number => (value < 0 ? 0 : Math.min(value, UINT32_MAX));

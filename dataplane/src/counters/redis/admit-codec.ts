/**
 * Wire format of one admit.lua call: keys, one packed argument, one packed reply. Pure functions. Little-endian
 * throughout; doubles carry times (µs) and money (nano-dollars), both exact below 2^53.
 *
 *   argument  header  {minute µs d, spend TTL s d, reservation lease µs d, month I4, its start s d, its end s d, probe B,
 *                      spend items I4, admission checks I4, token items I4, fixed windows µs d …, token minute µs d}
 *             spend   {flags B: 1 spent needed, 2 reservations; month I4, own total d, ledger d, ledger-only d,
 *                      ledger month I4, field s; with reservations: version d, base d, released d}
 *             token   {tokens d}
 *             check   {flags B: 1 agent-provider key, 2 extension; requests I4, rpm I4, fixed limits I4 …; extension:
 *                      token limits I4 …, reservation d, budget checks B, per budget check: spend item from 1 I4,
 *                      row of the limit table from 1 B, budget d}
 *   reply     header  {now µs d}
 *             spend   {the store's month I4, previous own total d, spent d}
 *             check   {admitted I4, rejecting row from 1 B, retry at µs d, remaining I4 and reset µs d of RPM and of each
 *                      fixed limit; extension: the same of each token limit, spent d, reserved d}
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
import type { AdmissionCheck, AdmitItems, SpendItem } from './admit-items-types.js';

/** How long a reservation counts in the store without renewal. */
export const RESERVATION_LEASE_MS = 15_000;
const SPEND_KEY_TTL_SEC = 32 * 86_400;

interface AdmitHeader {
  readonly windows: WindowLengthsMs;
  /** Month by this process's clock. The store's clock decides; this saves the script a calendar computation. */
  readonly month: number;
  /** True: the call also writes a key, to check that the store accepts writes. */
  readonly probe: boolean;
  /** Hash tag of the key that a probe writes; in the call's slot. */
  readonly probeTag: string;
}

export interface AdmitVerdict {
  /** How many of the check's requests pass: the first so many in order of arrival. */
  admittedCount: number;
  /** Row of the limit table that would reject the next request; -1 = none. */
  rejectedByRow: number;
  /** When that check admits the next request, Unix seconds. */
  retryAtSec: number;
  rpmRemaining: number;
  /** When the oldest counted request leaves the window, Unix seconds; null = none is counted. */
  rpmResetAtSec: number | null;
  /** Of the scope that rejects, else of the first checked scope; 0 without budget checks. Nano-dollars. */
  spentNanos: number;
  reservedNanos: number;
  /** By row of the limit table; null unless the check is a peek. */
  remaining: readonly number[] | null;
  resetAtSec: readonly (number | null)[] | null;
}

interface SpendReply {
  /** The own total that the store had before this call, nano-dollars. */
  readonly previousTotalNanos: number;
  readonly spentNanos: number;
}

export interface AdmitReply {
  /** Month by the store's clock; this process's month when the call had no spend item. */
  readonly month: number;
  /** Time of the store, Unix seconds. */
  readonly nowSec: number;
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

/** Keys differ by the number of fixed windows, because the size of the stored footer depends on it. */
const PAIR_KEY_INFIX = FIXED_ROWS.length === 1 ? '}:p:' : `}:p${FIXED_ROWS.length}:`;
export const agentProviderKey = (agentId: string, providerSlug: string): string =>
  `acg:{${agentId}${PAIR_KEY_INFIX}${providerSlug}`;
const tokenWindowKey = (agentId: string, providerSlug: string, row: number): string =>
  `acg:{${agentId}}:${LIMIT_TABLE[row]!.type}:${providerSlug}`;

/** KEYS of a call; see admit.lua. */
export function listAdmitKeys(header: AdmitHeader, { spends, admissionChecks, tokens }: AdmitItems): string[] {
  const keys: string[] = [];
  if (header.probe) keys.push(`acg:{${header.probeTag}}:probe`);
  for (const { counter } of spends) keys.push(counter.monthKeyPrefix);
  for (const { agentId, providerSlug, row } of tokens) keys.push(tokenWindowKey(agentId, providerSlug, row));
  for (const { limits, providerSlug } of admissionChecks) {
    if (providerSlug === null) continue;
    keys.push(agentProviderKey(limits.agentId, providerSlug));
    for (const row of TOKEN_ROWS) {
      if (limits.byRow[row] !== UNLIMITED) keys.push(tokenWindowKey(limits.agentId, providerSlug, row));
    }
  }
  return keys;
}

/** ARGV[1] of a call. Reads the counters' current reservations and resets their releases: call it only when sending. */
export function encodeAdmitArgument(header: AdmitHeader, items: AdmitItems): Buffer {
  const out = Buffer.allocUnsafe(encodedLength(items));
  let at = writeHeader(out, header, items);
  for (const item of items.spends) at = writeSpendItem(out, at, item);
  for (const { tokens } of items.tokens) at = out.writeDoubleLE(tokens, at);
  for (const admissionCheck of items.admissionChecks) at = writeAdmissionCheck(out, at, admissionCheck);
  return out;
}

function encodedLength({ spends, admissionChecks, tokens }: AdmitItems): number {
  let bytes = HEADER_BYTES + admissionChecks.length * ADMISSION_CHECK_BYTES + tokens.length * TOKEN_ITEM_BYTES;
  for (const { total, hasReservations } of spends) {
    bytes += SPEND_BYTES + 1 + (total === null ? 0 : total.field.length) + (hasReservations ? RESERVATION_BYTES : 0);
  }
  for (const admissionCheck of admissionChecks) {
    if (hasExtension(admissionCheck))
      bytes += EXTENSION_BYTES + admissionCheck.budgetChecks.length * BUDGET_CHECK_BYTES;
  }
  return bytes;
}

/** Whether the check needs the extension: token limits, budgets, a reservation, or a peek. */
function hasExtension({ limits, providerSlug, requestCount, reservationNanos, budgetChecks }: AdmissionCheck): boolean {
  if (requestCount === 0 || budgetChecks.length > 0 || reservationNanos > 0) return true;
  if (providerSlug === null) return false;
  for (let i = 0; i < TOKEN_ROWS.length; i++) if (limits.byRow[TOKEN_ROWS[i]!] !== UNLIMITED) return true;
  return false;
}

function writeHeader(out: Buffer, header: AdmitHeader, { spends, admissionChecks, tokens }: AdmitItems): number {
  out.set(headerTemplate.bytesFor(header));
  out[44] = header.probe ? 1 : 0;
  out.writeUInt32LE(spends.length, 45);
  out.writeUInt32LE(admissionChecks.length, 49);
  out.writeUInt32LE(tokens.length, 53);
  return HEADER_BYTES;
}

/** Caches the encoded header of a month with zero items, because nearly all of its bytes are the same in every call. */
class HeaderTemplate {
  readonly #bytes = Buffer.alloc(HEADER_BYTES);
  #windows: WindowLengthsMs | null = null;
  #month = 0;

  bytesFor({ windows, month }: AdmitHeader): Buffer {
    if (windows !== this.#windows || month !== this.#month) this.#encode(windows, month);
    return this.#bytes;
  }

  #encode(windows: WindowLengthsMs, month: number): void {
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
  const { counter, total, needsSpent, hasReservations } = item;
  out[start] = (needsSpent ? 1 : 0) + (hasReservations ? 2 : 0);
  out.writeUInt32LE(total === null ? 0 : total.month, start + 1);
  out.writeDoubleLE(total === null ? 0 : total.nanos, start + 5);
  out.writeDoubleLE(counter.ledgerNanos, start + 13);
  out.writeDoubleLE(counter.ledgerOnlyNanos, start + 21);
  out.writeUInt32LE(Math.max(0, counter.ledgerMonth), start + 29);
  let at = start + SPEND_BYTES;
  if (total !== null) at += out.write(total.field, at, 'latin1');
  out[at++] = 0;
  if (!hasReservations) return at;
  const released = counter.takeReleasesAndBumpVersion();
  out.writeDoubleLE(counter.reservationVersion, at);
  out.writeDoubleLE(counter.reservedNanos, at + 8);
  out.writeDoubleLE(released, at + 16);
  return at + RESERVATION_BYTES;
}

function writeAdmissionCheck(out: Buffer, start: number, admissionCheck: AdmissionCheck): number {
  const { byRow } = admissionCheck.limits;
  let at = start;
  const isExtended = hasExtension(admissionCheck);
  out[at] = (admissionCheck.providerSlug === null ? 0 : 1) + (isExtended ? 2 : 0);
  out.writeUInt32LE(admissionCheck.requestCount, at + 1);
  out.writeUInt32LE(clampToUint32(byRow[RPM_ROW]!), at + 5);
  at += 9;
  for (let i = 0; i < FIXED_ROWS.length; i++, at += 4) out.writeUInt32LE(clampToUint32(byRow[FIXED_ROWS[i]!]!), at);
  if (!isExtended) return at;
  for (let i = 0; i < TOKEN_ROWS.length; i++, at += 4) {
    out.writeUInt32LE(admissionCheck.providerSlug === null ? UINT32_MAX : clampToUint32(byRow[TOKEN_ROWS[i]!]!), at);
  }
  out.writeDoubleLE(admissionCheck.reservationNanos, at);
  out[at + 8] = admissionCheck.budgetChecks.length;
  at += 9;
  for (let i = 0; i < admissionCheck.budgetChecks.length; i++, at += BUDGET_CHECK_BYTES) {
    const { spendIndex, row, budgetNanos } = admissionCheck.budgetChecks[i]!;
    out.writeUInt32LE(spendIndex + 1, at);
    out[at + 4] = row + 1;
    out.writeDoubleLE(budgetNanos, at + 5);
  }
  return at;
}

/** Returns null when the reply does not have the size that the call requires. `month`: by this process's clock. */
export function decodeAdmitReply(
  reply: Buffer | null,
  { spends, admissionChecks }: AdmitItems,
  month: number,
): AdmitReply | null {
  let size = REPLY_HEADER_BYTES + spends.length * SPEND_REPLY_BYTES + admissionChecks.length * VERDICT_BYTES;
  for (let i = 0; i < admissionChecks.length; i++)
    if (hasExtension(admissionChecks[i]!)) size += EXTENSION_VERDICT_BYTES;
  if (reply === null || reply.length !== size) return null;
  const storeMonth = spends.length > 0 ? reply.readUInt32LE(REPLY_HEADER_BYTES) : month;
  let at = REPLY_HEADER_BYTES;
  const spendReplies: SpendReply[] = [];
  for (let i = 0; i < spends.length; i++, at += SPEND_REPLY_BYTES) {
    spendReplies.push({ previousTotalNanos: reply.readDoubleLE(at + 4), spentNanos: reply.readDoubleLE(at + 12) });
  }
  const verdicts: AdmitVerdict[] = [];
  for (let i = 0; i < admissionChecks.length; i++) {
    const isExtended = hasExtension(admissionChecks[i]!);
    verdicts.push(decodeVerdict(reply, at, storeMonth, isExtended, admissionChecks[i]!.requestCount === 0));
    at += isExtended ? VERDICT_BYTES + EXTENSION_VERDICT_BYTES : VERDICT_BYTES;
  }
  return { month: storeMonth, nowSec: Math.floor(reply.readDoubleLE(0) / 1e6), spends: spendReplies, verdicts };
}

function decodeVerdict(reply: Buffer, at: number, month: number, hasExtension: boolean, isPeek: boolean): AdmitVerdict {
  const rejectedByRow = reply[at + 4]! - 1;
  const isBudget = rejectedByRow >= AGENT_PROVIDER_ROWS.length;
  const figures = at + 13;
  const tail = figures + LIMIT_FIGURES_BYTES * AGENT_PROVIDER_ROWS.length;
  return {
    admittedCount: reply.readUInt32LE(at),
    rejectedByRow,
    retryAtSec: isBudget ? monthEndSec(month) : ceilToSeconds(reply.readDoubleLE(at + 5)),
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

/** Rounds up, so that the event has happened at the returned second. */
const ceilToSeconds = (us: number): number => Math.ceil(us / 1_000_000);
const clampToUint32 = (value: number): number => (value < 0 ? 0 : Math.min(value, UINT32_MAX));

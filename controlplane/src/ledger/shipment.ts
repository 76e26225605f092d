/**
 * Takes the body of a ReportUsage call apart into what the ledger can book and what it cannot. Usage records, which
 * come with every call of an agent, have a reader of their own; the rare rest is read by the ordinary codec. Pure.
 */
import { createHash } from 'node:crypto';
import { NIL_UUID } from '@acg/base/uuid';
import { readUsageRecord, UsageRecordKind } from '@acg/proto/generated/usage-record';
import {
  AddressSighting,
  type IAddressSighting,
  type IRejectionCount,
  type IUsageRecord,
  LedgerMark as LedgerMarkMessage,
  RejectionCount,
  UsageRecord,
} from '@acg/proto/messages';
import { DELIMITED, StringMemo, WireReader } from '@acg/proto/wire-reader';
import { COUNT_MAX, isUuid, Poison, slugOrNone, text } from './checks.js';
import type { PoisonEntry, RejectionEntry } from './count-ledger.js';
import { type LineEntry, readLines } from './lines.js';
import type { LedgerMark } from './marks.js';
import { type LedgerSpan, UsageEntry, UsageKind } from './usage-entry.js';

/** A gateway token seen at an address for the first time in a while. */
export interface SightingEntry {
  readonly id: string;
  readonly orgId: string;
  readonly agentId: string;
  readonly keyId: string;
  /** Hex; salted with the key id. */
  readonly addressHash: string;
  readonly seenAtMs: number;
}

export interface ShippedItems {
  readonly entries: readonly UsageEntry[];
  readonly rejections: readonly RejectionEntry[];
  readonly sightings: readonly SightingEntry[];
  readonly lines: readonly LineEntry[];
}

/** What one ReportUsage call of a data plane brought, read. */
export interface Shipment extends ShippedItems {
  readonly poison: readonly PoisonEntry[];
  /** Of the last batch that the data plane knows to be in the ledger; null: it names none. */
  readonly lastMark: LedgerMark | null;
}

/** These bytes will never be taken, however often they come. */
export class UnusableShipment extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'UnusableShipment';
  }
}

/** Records, counts and sightings of one call; a data plane sends far fewer. */
const ITEMS_MAX = 20_000;
/** Kinds of one agent that are remembered; beyond, the oldest gives way. */
const KINDS_KEPT = 16;

/** Fields of `ReportUsageRequest`. */
const DATA_PLANE_ID = 1;
const RECORDS = 2;
const REJECTIONS = 3;
const SIGHTINGS = 4;
const LINES = 5;
const LAST_MARK = 50;

/** Statistics that make no sense are left out silently. Throws {@link UnusableShipment}. */
export function readShipment(body: Buffer, span: LedgerSpan): Shipment {
  try {
    return new ReportReader(span).read(body);
  } catch (error) {
    if (error instanceof UnusableShipment) throw error;
    // Whatever the decoders say of bytes that are no message.
    throw new UnusableShipment(`the report cannot be read: ${(error as Error).message}`);
  }
}

interface KnownKind {
  readonly sent: UsageRecordKind;
  readonly kind: UsageKind | Poison;
}

class ReportReader {
  readonly #strings = new StringMemo();
  /** By agent id, as it came. */
  readonly #kinds = new Map<string, KnownKind[]>();
  readonly #entries: UsageEntry[] = [];
  readonly #rejections: RejectionEntry[] = [];
  readonly #sightings: SightingEntry[] = [];
  readonly #lines: LineEntry[] = [];
  readonly #poison: PoisonEntry[] = [];
  /** Of the record that is being read. */
  #sent = new UsageRecordKind();
  #dataPlaneId = '';
  #lastMark: LedgerMark | null = null;
  #items = 0;

  constructor(readonly span: LedgerSpan) {}

  read(body: Buffer): Shipment {
    const reader = new WireReader(body);
    while (reader.at < reader.end) {
      const tag = reader.varint();
      if ((tag & 7) !== DELIMITED) {
        reader.skip(tag & 7);
        continue;
      }
      const end = reader.delimited();
      this.#part(tag >>> 3, reader, end);
      reader.at = end;
    }
    return {
      entries: this.#entries,
      rejections: this.#rejections,
      sightings: this.#sightings,
      lines: this.#lines,
      poison: this.#poison,
      lastMark: this.#lastMark,
    };
  }

  #part(field: number, reader: WireReader, end: number): void {
    if (field !== DATA_PLANE_ID && ++this.#items > ITEMS_MAX) {
      throw new UnusableShipment(`more than ${ITEMS_MAX} items in one report`);
    }
    const bytes = (): Buffer => reader.bytes.subarray(reader.at, end);
    if (field === RECORDS) this.#record(reader, end);
    else if (field === DATA_PLANE_ID) {
      this.#dataPlaneId = bytes().toString();
      this.#kinds.clear();
    } else if (field === REJECTIONS) {
      const entry = parseRejection(RejectionCount.decode(bytes()), this.span);
      if (entry !== null) this.#rejections.push(entry);
    } else if (field === SIGHTINGS) {
      const entry = parseSighting(AddressSighting.decode(bytes()));
      if (entry !== null) this.#sightings.push(entry);
    } else if (field === LINES) {
      for (const line of readLines(bytes(), this.span)) this.#lines.push(line);
    } else if (field === LAST_MARK) {
      const { number, id } = LedgerMarkMessage.decode(bytes());
      if (Number.isSafeInteger(number) && isUuid(id ?? '')) this.#lastMark = { number: number!, id: id! };
    }
  }

  #record(reader: WireReader, end: number): void {
    const start = reader.at;
    const entry = new UsageEntry();
    this.#sent.reset();
    readUsageRecord(reader, end, this.#strings, this.#sent, entry);
    try {
      const kind = this.#kindOf(this.#sent);
      if (kind instanceof Poison) throw kind;
      entry.check(kind, this.span);
      this.#entries.push(entry);
    } catch (error) {
      if (!(error instanceof Poison)) throw error;
      const record = UsageRecord.decode(reader.bytes.subarray(start, end));
      this.#poison.push(poisonOf(record, this.#dataPlaneId, error.message));
    }
  }

  #kindOf(sent: UsageRecordKind): UsageKind | Poison {
    let known = this.#kinds.get(sent.agentId);
    if (known === undefined) {
      known = [];
      this.#kinds.set(sent.agentId, known);
    }
    for (let i = 0; i < known.length; i++) {
      const { sent: seen, kind } = known[i]!;
      if (sent.sameAs(seen)) return kind;
    }
    const kind = checked(sent, this.#dataPlaneId);
    if (known.length >= KINDS_KEPT) known.shift();
    known.push({ sent, kind });
    this.#sent = new UsageRecordKind();
    return kind;
  }
}

function checked(sent: UsageRecordKind, dataPlaneId: string): UsageKind | Poison {
  try {
    return UsageKind.of(sent, dataPlaneId);
  } catch (error) {
    if (error instanceof Poison) return error;
    throw error;
  }
}

/** What JSON can say and jsonb cannot hold: NUL and halves of surrogate pairs. */
const NOT_IN_JSONB = /\\u(?:0000|d[89a-f][0-9a-f]{2})/gi;

const storableJson = (value: object): string => JSON.stringify(value).replace(NOT_IN_JSONB, '\\ufffd');

/** A record that made sense, but not to the database. */
export function refusedByDatabase(entry: UsageEntry, message: string): PoisonEntry {
  const { id, kind } = entry;
  const reason = `the database refuses it: ${message}`;
  return { id, sentId: id, orgId: kind.orgId, dataPlaneId: kind.dataPlaneId, reason, record: storableJson(entry) };
}

function poisonOf(record: IUsageRecord, dataPlaneId: string, reason: string): PoisonEntry {
  const json = storableJson(record);
  const given = record.id ?? '';
  const id = isUuid(given) ? given : createHash('sha256').update(json).digest('hex').slice(0, 32);
  const orgId = isUuid(record.orgId ?? '') ? record.orgId! : NIL_UUID;
  return { id, sentId: given, orgId, dataPlaneId: text(dataPlaneId, 80), reason, record: json };
}

function parseRejection(count: IRejectionCount, span: LedgerSpan): RejectionEntry | null {
  const { id = '', orgId = '', agentId = '', minuteMs, count: times } = count;
  const minute = minuteMs ?? 0;
  const known = [id, orgId, agentId].every((value) => isUuid(value ?? ''));
  if (!known || !isCount(times) || !Number.isSafeInteger(minute)) return null;
  if (minute < span.fromMs || minute >= span.toMs) return null;
  return {
    id: id!,
    orgId: orgId!,
    agentId: agentId!,
    providerSlug: slugOrNone(count.providerSlug),
    reason: text(count.reason, 40) || 'unknown',
    minuteMs: minute,
    count: times,
  };
}

function parseSighting(sighting: IAddressSighting): SightingEntry | null {
  const { id = '', orgId = '', agentId = '', keyId = '', addressHash, seenAtMs } = sighting;
  if (![id, orgId, agentId, keyId].every((value) => isUuid(value ?? ''))) return null;
  if (addressHash == null || addressHash.length > 64 || !Number.isSafeInteger(seenAtMs ?? 0)) return null;
  const hash = Buffer.from(addressHash).toString('hex');
  return { id: id!, orgId: orgId!, agentId: agentId!, keyId: keyId!, addressHash: hash, seenAtMs: seenAtMs ?? 0 };
}

const isCount = (value: number | null | undefined): value is number =>
  Number.isSafeInteger(value) && value! > 0 && value! <= COUNT_MAX;

/**
 * Decodes the body of a ReportUsage call into what the ledger can book and what it must quarantine. Usage records, one
 * per agent call, have a decoder of their own; the protobuf codec reads everything else. Pure.
 */
import { createHash } from 'node:crypto';
import { NIL_UUID } from '@acg/base/uuid-patterns';
import { decodeUsageRecord, UsageRecordDimensions } from '@acg/proto/generated/usage-record';
import {
  AddressSighting,
  type IAddressSighting,
  type IRejectedCall,
  type IRejectionCount,
  type IUsageRecord,
  LedgerMark as LedgerMarkMessage,
  RejectionCount,
  UsageRecord,
} from '@acg/proto/messages';
import { StringInterner, WIRE_LENGTH_DELIMITED, WireReader } from '@acg/proto/wire-reader';
import { type DeferredUsageEntry, decodeDeferredUsage } from './deferred-usage-deduplication.js';
import type { LedgerMark } from './lost-commit-detection.js';
import type { QuarantinedRecord, RejectedCallEntry, RejectionEntry } from './rejection-and-quarantine-store.js';
import { COUNT_MAX, InvalidUsageRecord, isUuid, slugOrEmpty, truncateAndReplaceNul } from './usage-field-validation.js';
import { type BookableRange, UsageDimensions, UsageEntry } from './usage-record-with-shared-dimensions.js';

/** The first use of a gateway token from an IP address in a while. */
export interface IpObservation {
  readonly id: string;
  readonly orgId: string;
  readonly agentId: string;
  readonly keyId: string;
  /** Hash of the IP address, hex; salted with the key id. */
  readonly addressHash: string;
  readonly seenAtMs: number;
}

export interface UsageBatchItems {
  readonly entries: readonly UsageEntry[];
  readonly rejections: readonly RejectionEntry[];
  readonly ipObservations: readonly IpObservation[];
  readonly deferredUsage: readonly DeferredUsageEntry[];
}

/** One decoded ReportUsage call of a data plane. */
export interface UsageBatch extends UsageBatchItems {
  /** As the data plane sent it. */
  readonly dataPlaneId: string;
  readonly quarantined: readonly QuarantinedRecord[];
  /** Mark of the last commit that the data plane knows; null: the report has none. */
  readonly lastMark: LedgerMark | null;
}

/** These bytes can never be booked, however often they are sent. */
export class InvalidUsageBatch extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'InvalidUsageBatch';
  }
}

/**
 * Limit for records, rejection counts, IP observations and deferred usage of one call together; a data plane sends far
 * fewer.
 */
const ITEMS_MAX = 20_000;
/** Rejected calls that are read of one count; a data plane sends fewer. */
const CALLS_PER_REJECTION_MAX = 10;
/** Validated dimensions cached per agent. When the cache is full, the oldest are evicted. */
const DIMENSIONS_CACHED_PER_AGENT = 16;

/** Fields of `ReportUsageRequest`. */
const DATA_PLANE_ID = 1;
const RECORDS = 2;
const REJECTIONS = 3;
const SIGHTINGS = 4;
const LINES = 5;
const LAST_MARK = 50;

/** Silently leaves out invalid statistics. Throws {@link InvalidUsageBatch} if the body cannot be decoded. */
export function decodeUsageBatch(body: Buffer, bookableRange: BookableRange): UsageBatch {
  try {
    return new UsageBatchDecoder(bookableRange).decode(body);
  } catch (error) {
    if (error instanceof InvalidUsageBatch) throw error;
    // The decoders throw various errors for bytes that are not a message.
    throw new InvalidUsageBatch(`the usage report cannot be decoded: ${(error as Error).message}`);
  }
}

interface KnownDimensions {
  readonly sent: UsageRecordDimensions;
  readonly dimensions: UsageDimensions | InvalidUsageRecord;
}

class UsageBatchDecoder {
  readonly #strings = new StringInterner();
  /** By agent id as sent. */
  readonly #dimensionsByAgent = new Map<string, KnownDimensions[]>();
  readonly #entries: UsageEntry[] = [];
  readonly #rejections: RejectionEntry[] = [];
  readonly #ipObservations: IpObservation[] = [];
  readonly #deferredUsage: DeferredUsageEntry[] = [];
  readonly #quarantined: QuarantinedRecord[] = [];
  /** Scratch object for the record that is being decoded. */
  #sentDimensions = new UsageRecordDimensions();
  #dataPlaneId = '';
  #lastMark: LedgerMark | null = null;
  #items = 0;

  constructor(readonly bookableRange: BookableRange) {}

  decode(body: Buffer): UsageBatch {
    const reader = new WireReader(body);
    while (reader.at < reader.end) {
      const tag = reader.readVarint();
      if ((tag & 7) !== WIRE_LENGTH_DELIMITED) {
        reader.skip(tag & 7);
        continue;
      }
      const end = reader.readDelimitedEnd();
      this.#decodeField(tag >>> 3, reader, end);
      reader.at = end;
    }
    return {
      dataPlaneId: this.#dataPlaneId,
      entries: this.#entries,
      rejections: this.#rejections,
      ipObservations: this.#ipObservations,
      deferredUsage: this.#deferredUsage,
      quarantined: this.#quarantined,
      lastMark: this.#lastMark,
    };
  }

  #decodeField(field: number, reader: WireReader, end: number): void {
    if (field !== DATA_PLANE_ID && ++this.#items > ITEMS_MAX) {
      throw new InvalidUsageBatch(`more than ${ITEMS_MAX} items in one usage report`);
    }
    const bytes = (): Buffer => reader.bytes.subarray(reader.at, end);
    if (field === RECORDS) this.#decodeRecord(reader, end);
    else if (field === DATA_PLANE_ID) {
      this.#dataPlaneId = bytes().toString();
      this.#dimensionsByAgent.clear();
    } else if (field === REJECTIONS) {
      const entry = parseRejectionCount(RejectionCount.decode(bytes()), this.bookableRange);
      if (entry !== null) this.#rejections.push(entry);
    } else if (field === SIGHTINGS) {
      const entry = parseIpObservation(AddressSighting.decode(bytes()));
      if (entry !== null) this.#ipObservations.push(entry);
    } else if (field === LINES) {
      for (const line of decodeDeferredUsage(bytes(), this.bookableRange)) this.#deferredUsage.push(line);
    } else if (field === LAST_MARK) {
      const { number, id } = LedgerMarkMessage.decode(bytes());
      if (Number.isSafeInteger(number) && isUuid(id ?? '')) this.#lastMark = { number: number!, id: id! };
    }
  }

  #decodeRecord(reader: WireReader, end: number): void {
    const start = reader.at;
    const entry = new UsageEntry();
    this.#sentDimensions.reset();
    decodeUsageRecord(reader, end, this.#strings, this.#sentDimensions, entry);
    try {
      const dimensions = this.#findOrValidateDimensions(this.#sentDimensions);
      if (dimensions instanceof InvalidUsageRecord) throw dimensions;
      entry.setDimensionsAndValidate(dimensions, this.bookableRange);
      this.#entries.push(entry);
    } catch (error) {
      if (!(error instanceof InvalidUsageRecord)) throw error;
      const record = UsageRecord.decode(reader.bytes.subarray(start, end));
      this.#quarantined.push(quarantineRecord(record, this.#dataPlaneId, error.message));
    }
  }

  #findOrValidateDimensions(sent: UsageRecordDimensions): UsageDimensions | InvalidUsageRecord {
    let cached = this.#dimensionsByAgent.get(sent.agentId);
    if (cached === undefined) {
      cached = [];
      this.#dimensionsByAgent.set(sent.agentId, cached);
    }
    for (let i = 0; i < cached.length; i++) {
      const { sent: cachedSent, dimensions } = cached[i]!;
      if (sent.equals(cachedSent)) return dimensions;
    }
    const dimensions = validateDimensions(sent, this.#dataPlaneId);
    if (cached.length >= DIMENSIONS_CACHED_PER_AGENT) cached.shift();
    cached.push({ sent, dimensions });
    this.#sentDimensions = new UsageRecordDimensions();
    return dimensions;
  }
}

function validateDimensions(sent: UsageRecordDimensions, dataPlaneId: string): UsageDimensions | InvalidUsageRecord {
  try {
    return UsageDimensions.createValidated(sent, dataPlaneId);
  } catch (error) {
    if (error instanceof InvalidUsageRecord) return error;
    throw error;
  }
}

/** Escapes that JSON allows but `jsonb` cannot store: NUL and unpaired surrogates. */
const UNSTORABLE_IN_JSONB = /\\u(?:0000|d[89a-f][0-9a-f]{2})/gi;

const stringifyForJsonb = (value: object): string => JSON.stringify(value).replace(UNSTORABLE_IN_JSONB, '\\ufffd');

/** Quarantines a valid record. */
export function quarantineEntry(entry: UsageEntry, reason: string): QuarantinedRecord {
  const { dimensions, ...measures } = entry;
  const { id } = measures;
  const record = stringifyForJsonb({ ...measures, kind: dimensions }); // `kind` is the stored name of the dimensions
  return {
    id,
    reportedId: id,
    orgId: dimensions.orgId,
    dataPlaneId: dimensions.dataPlaneId,
    reason,
    record,
  };
}

function quarantineRecord(record: IUsageRecord, dataPlaneId: string, reason: string): QuarantinedRecord {
  const json = stringifyForJsonb(record);
  const given = record.id ?? '';
  const id = isUuid(given) ? given : createHash('sha256').update(json).digest('hex').slice(0, 32);
  const orgId = isUuid(record.orgId ?? '') ? record.orgId! : NIL_UUID;
  return { id, reportedId: given, orgId, dataPlaneId: truncateAndReplaceNul(dataPlaneId, 80), reason, record: json };
}

function parseRejectionCount(count: IRejectionCount, bookableRange: BookableRange): RejectionEntry | null {
  const { id = '', orgId = '', agentId = '', minuteMs, count: times } = count;
  const minute = minuteMs ?? 0;
  const known = [id, orgId, agentId].every((value) => isUuid(value ?? ''));
  if (!known || !isPositiveCount(times) || !Number.isSafeInteger(minute)) return null;
  if (minute < bookableRange.fromMs || minute >= bookableRange.toMs) return null;
  return {
    id: id!,
    orgId: orgId!,
    agentId: agentId!,
    providerSlug: slugOrEmpty(count.providerSlug),
    reason: truncateAndReplaceNul(count.reason, 40) || 'unknown',
    minuteMs: minute,
    count: times,
    calls: (count.calls ?? []).slice(0, CALLS_PER_REJECTION_MAX).flatMap((call) => {
      const parsed = parseRejectedCall(call, bookableRange);
      return parsed === null ? [] : [parsed];
    }),
  };
}

function parseRejectedCall(call: IRejectedCall, bookableRange: BookableRange): RejectedCallEntry | null {
  const { id = '', keyId = '', rejectedAtMs, status } = call;
  if (![id, keyId].every((value) => isUuid(value ?? ''))) return null;
  const atMs = rejectedAtMs ?? 0;
  if (!Number.isSafeInteger(atMs) || atMs < bookableRange.fromMs || atMs >= bookableRange.toMs) return null;
  return {
    id: id!,
    keyId: keyId!,
    rejectedAtMs: atMs,
    status: Math.min(status ?? 0, 999),
    method: truncateAndReplaceNul(call.method, 20),
    path: truncateAndReplaceNul(call.path, 1_024),
    model: truncateAndReplaceNul(call.model, 200),
    tool: truncateAndReplaceNul(call.tool, 200),
    budgetId: isUuid(call.budgetId ?? '') ? call.budgetId! : '',
    clientNetwork: truncateAndReplaceNul(call.clientNetwork, 60),
  };
}

function parseIpObservation(sighting: IAddressSighting): IpObservation | null {
  const { id = '', orgId = '', agentId = '', keyId = '', addressHash, seenAtMs } = sighting;
  if (![id, orgId, agentId, keyId].every((value) => isUuid(value ?? ''))) return null;
  if (addressHash == null || addressHash.length > 64 || !Number.isSafeInteger(seenAtMs ?? 0)) return null;
  const hash = Buffer.from(addressHash).toString('hex');
  return { id: id!, orgId: orgId!, agentId: agentId!, keyId: keyId!, addressHash: hash, seenAtMs: seenAtMs ?? 0 };
}

const isPositiveCount = (value: number | null | undefined): value is number =>
  Number.isSafeInteger(value) && value! > 0 && value! <= COUNT_MAX;

/** Turns reports as they came over the wire into one batch that the ledger can take, and what cannot be taken. Pure. */
import { createHash } from 'node:crypto';
import type { IAddressSighting, IRejectionCount, IReportUsageRequest, IUsageRecord } from '@acg/proto/messages';
import type { PoisonEntry, RejectionEntry } from './count-ledger.js';
import { isUuid, type LedgerSpan, parseUsageRecord, slugOrNone, text, type UsageEntry } from './usage-entry.js';

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

export interface ReportBatch {
  readonly entries: readonly UsageEntry[];
  readonly rejections: readonly RejectionEntry[];
  readonly sightings: readonly SightingEntry[];
}

const COUNT_MAX = 2 ** 41;

/** Each id once, whatever the reports repeat. Statistics that make no sense are left out silently. */
export function gatherReports(
  requests: readonly IReportUsageRequest[],
  span: LedgerSpan,
): { batch: ReportBatch; poison: PoisonEntry[] } {
  const entries = new Map<string, UsageEntry>();
  const rejections = new Map<string, RejectionEntry>();
  const sightings = new Map<string, SightingEntry>();
  const poison: PoisonEntry[] = [];
  for (const request of requests) {
    const dataPlaneId = request.dataPlaneId ?? '';
    for (const record of request.records ?? []) {
      const entry = parseUsageRecord(record, dataPlaneId, span);
      if (typeof entry === 'string') poison.push(poisonOf(record, dataPlaneId, entry));
      else entries.set(entry.id, entry);
    }
    for (const count of request.rejections ?? []) {
      const entry = parseRejection(count, span);
      if (entry !== null) rejections.set(entry.id, entry);
    }
    for (const sighting of request.sightings ?? []) {
      const entry = parseSighting(sighting);
      if (entry !== null) sightings.set(entry.id, entry);
    }
  }
  const batch = {
    entries: [...entries.values()],
    rejections: [...rejections.values()],
    sightings: [...sightings.values()],
  };
  return { batch, poison };
}

/** What JSON can say and jsonb cannot hold: NUL and halves of surrogate pairs. */
const NOT_IN_JSONB = /\\u(?:0000|d[89a-f][0-9a-f]{2})/gi;

function poisonOf(record: IUsageRecord, dataPlaneId: string, reason: string): PoisonEntry {
  const json = JSON.stringify(record).replace(NOT_IN_JSONB, '\\ufffd');
  const given = record.id ?? '';
  const id = isUuid(given) ? given : createHash('sha256').update(json).digest('hex').slice(0, 32);
  return { id, sentId: given, dataPlaneId: text(dataPlaneId, 80), reason, record: json };
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

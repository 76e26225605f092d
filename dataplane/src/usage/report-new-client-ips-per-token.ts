/**
 * Reports when a gateway token is used from a client IP that it did not use in the last 10 minutes. Input of the event
 * "one token from many addresses" (docs/contract.md#events). Only a hash salted with the key id leaves this process.
 * Bounded in keys and in addresses per key; a key beyond the bound exceeds every threshold already.
 */
import { createHash } from 'node:crypto';
import { uuidv7 } from '@acg/base/uuidv7';
import type { IAddressSighting } from '@acg/proto/messages';

const REPORT_AGAIN_AFTER_MS = 10 * 60_000;
const KEYS_MAX = 20_000;
const ADDRESSES_PER_KEY_MAX = 256;

type ObservationSink = (sighting: IAddressSighting) => boolean;

interface ObservationBounds {
  readonly keysMax: number;
  readonly addressesPerKeyMax: number;
}

export class TokenIpObservations {
  readonly #sink: ObservationSink;
  readonly #bounds: ObservationBounds;
  /** Key id → address → Unix ms of its last report. Keys are in order of first use; the oldest is evicted first. */
  readonly #keys = new Map<string, Map<string, number>>();

  constructor(
    sink: ObservationSink,
    bounds: ObservationBounds = { keysMax: KEYS_MAX, addressesPerKeyMax: ADDRESSES_PER_KEY_MAX },
  ) {
    this.#sink = sink;
    this.#bounds = bounds;
  }

  /** Call once per authenticated request. Nearly always costs two map lookups. */
  observe(orgId: string, agentId: string, keyId: string, address: string, nowMs: number): void {
    const addresses = this.#keys.get(keyId) ?? this.#startTrackingKey(keyId);
    const reportedMs = addresses.get(address);
    if (reportedMs !== undefined && nowMs - reportedMs < REPORT_AGAIN_AFTER_MS) return;
    if (reportedMs !== undefined)
      addresses.delete(address); // re-insert, so that the map stays in order of reports
    else if (addresses.size >= this.#bounds.addressesPerKeyMax && !this.#evictOldAddresses(addresses, nowMs)) return;
    addresses.set(address, nowMs);
    const addressHash = createHash('sha256').update(keyId).update('\0').update(address).digest();
    this.#sink({ id: uuidv7(nowMs), orgId, agentId, keyId, addressHash, seenAtMs: nowMs });
  }

  #startTrackingKey(keyId: string): Map<string, number> {
    if (this.#keys.size >= this.#bounds.keysMax) this.#keys.delete(this.#keys.keys().next().value!);
    const addresses = new Map<string, number>();
    this.#keys.set(keyId, addresses);
    return addresses;
  }

  /** Evicts addresses older than 10 minutes. Returns false when all addresses are recent. */
  #evictOldAddresses(addresses: Map<string, number>, nowMs: number): boolean {
    for (const [address, reportedMs] of addresses) {
      if (nowMs - reportedMs < REPORT_AGAIN_AFTER_MS) break;
      addresses.delete(address);
    }
    return addresses.size < this.#bounds.addressesPerKeyMax;
  }
}

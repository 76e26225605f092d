/**
 * Limits the memory of bodies that are buffered whole because the gateway must edit or read them. One limit applies to
 * all organizations together. Each organization may use a quarter of it, or one body where that is more.
 */
import { invariant } from '@acg/base/invariant';
import type { BodyMemory } from '../listener/request-body.js';

const ORG_BYTES_MAX_RATIO = 1 / 4;

export class BufferedBodyMemory {
  readonly #perOrgMax: number;
  /** Bytes by organization; organizations without buffered bytes have no entry. */
  readonly #bytesByOrg = new Map<string, number>();
  #bytesLeft: number;

  constructor(bytesMax: number, bodyBytesMax: number) {
    this.#bytesLeft = bytesMax;
    this.#perOrgMax = Math.max(bodyBytesMax, bytesMax * ORG_BYTES_MAX_RATIO);
  }

  get bytesLeft(): number {
    return this.#bytesLeft;
  }

  /** The memory for one body of the organization. */
  forOrg(orgId: string): BodyMemory {
    return {
      reserve: (bytes) => this.#reserve(orgId, bytes),
      release: (bytes) => this.#release(orgId, bytes),
    };
  }

  /**
   * Returns false when no memory is left. A body that was only to be edited is then streamed unchanged, and its usage
   * is estimated.
   */
  #reserve(orgId: string, bytes: number): boolean {
    const held = this.#bytesByOrg.get(orgId) ?? 0;
    if (bytes > this.#bytesLeft || held + bytes > this.#perOrgMax) return false;
    this.#bytesLeft -= bytes;
    this.#bytesByOrg.set(orgId, held + bytes);
    return true;
  }

  #release(orgId: string, bytes: number): void {
    const held = (this.#bytesByOrg.get(orgId) ?? 0) - bytes;
    if (!invariant(held >= 0, 'body_memory_not_negative')) return;
    this.#bytesLeft += bytes;
    if (held > 0) this.#bytesByOrg.set(orgId, held);
    else this.#bytesByOrg.delete(orgId);
  }
}

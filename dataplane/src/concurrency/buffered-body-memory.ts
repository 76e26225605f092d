/**
 * Bounds the bytes of all bodies that are held whole because they have to be edited or read: those of all together, and
 * those of one organization to a quarter of it, or to one body where that is more.
 */
import type { BodyMemory } from '../listener/request-body.js';

const ORG_BYTES_MAX_RATIO = 1 / 4;

export class BufferedBodyMemory {
  readonly #perOrgMax: number;
  /** Bytes by organization; those that hold none are not in it. */
  readonly #bytesByOrg = new Map<string, number>();
  #bytesLeft: number;

  constructor(bytesMax: number, bodyBytesMax: number) {
    this.#bytesLeft = bytesMax;
    this.#perOrgMax = Math.max(bodyBytesMax, bytesMax * ORG_BYTES_MAX_RATIO);
  }

  get bytesLeft(): number {
    return this.#bytesLeft;
  }

  /** For one body of the organization. */
  forOrg(orgId: string): BodyMemory {
    return {
      reserve: (bytes) => this.#reserve(orgId, bytes),
      release: (bytes) => this.#release(orgId, bytes),
    };
  }

  /** False: no room; a body that was only to be edited streams as it is, and its usage is estimated. */
  #reserve(orgId: string, bytes: number): boolean {
    const held = this.#bytesByOrg.get(orgId) ?? 0;
    if (bytes > this.#bytesLeft || held + bytes > this.#perOrgMax) return false;
    this.#bytesLeft -= bytes;
    this.#bytesByOrg.set(orgId, held + bytes);
    return true;
  }

  #release(orgId: string, bytes: number): void {
    const held = (this.#bytesByOrg.get(orgId) ?? 0) - bytes;
    this.#bytesLeft += bytes;
    if (held > 0) this.#bytesByOrg.set(orgId, held);
    else this.#bytesByOrg.delete(orgId);
  }
}

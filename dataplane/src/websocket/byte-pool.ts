/**
 * Bytes that WebSockets make this process hold, in one pool: what came of a provider's unfinished message, and what
 * waits for a provider or an agent that reads slowly. An organization's bytes may grow as long as they then are at most
 * {@link FREE_RATIO} times those that are still free: the rule of call/org-shares.ts.
 *
 * Unlike a call, such bytes may stay for ever: a message need never end. So whoever would hold less than the organization
 * that holds most is not refused; that one loses what its largest holder has. What many tenants hold on purpose is
 * theirs only until somebody else needs it.
 */
import { FREE_RATIO } from '../call/org-shares.js';

/** Bytes of one organization. */
interface OrgBytes {
  readonly orgId: string;
  bytes: number;
  readonly holdings: Set<Holding>;
}

/** What one WebSocket holds of the pool. */
export class Holding {
  readonly #pool: BytePool;
  readonly #onLost: () => void;
  #org: OrgBytes | null;
  #bytes = 0;

  constructor(pool: BytePool, org: OrgBytes, onLost: () => void) {
    this.#pool = pool;
    this.#org = org;
    this.#onLost = onLost;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** It holds so many from now on. False: it may not have more, and holds what it held. */
  resize(bytes: number): boolean {
    const org = this.#org;
    if (org === null) return false;
    const more = bytes - this.#bytes;
    if (more > 0 && !this.#pool.hasRoom(org, more)) return false;
    this.#bytes = bytes;
    this.#pool.add(org, more);
    return true;
  }

  /** Gives back all of it, once. */
  close(): void {
    const org = this.#org;
    if (org === null) return;
    this.#org = null;
    this.#pool.add(org, -this.#bytes);
    this.#bytes = 0;
    this.#pool.leave(org, this);
  }

  /** Somebody else needs it. */
  lose(): void {
    this.close();
    this.#onLost();
  }
}

export class BytePool {
  readonly #bytesMax: number;
  readonly #orgs = new Map<string, OrgBytes>();
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Bytes held. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Organizations with a WebSocket; for tests of the bound. */
  get organizations(): number {
    return this.#orgs.size;
  }

  /** `onLost`: it holds nothing any more, and must let go of what it has at once. */
  open(orgId: string, onLost: () => void): Holding {
    let org = this.#orgs.get(orgId);
    if (org === undefined) {
      org = { orgId, bytes: 0, holdings: new Set() };
      this.#orgs.set(orgId, org);
    }
    const holding = new Holding(this, org, onLost);
    org.holdings.add(holding);
    return holding;
  }

  /** Room for `more` bytes of that organization, made where there is none. */
  hasRoom(org: OrgBytes, more: number): boolean {
    while (org.bytes + more > FREE_RATIO * (this.#bytesMax - this.#bytes - more)) {
      const most = largest(this.#orgs.values());
      if (most.bytes <= org.bytes + more) return false;
      largest(most.holdings).lose();
    }
    return true;
  }

  add(org: OrgBytes, bytes: number): void {
    org.bytes += bytes;
    this.#bytes += bytes;
  }

  leave(org: OrgBytes, holding: Holding): void {
    org.holdings.delete(holding);
    if (org.holdings.size === 0) this.#orgs.delete(org.orgId);
  }
}

/** Of at least one. */
function largest<Sized extends { readonly bytes: number }>(all: Iterable<Sized>): Sized {
  let found: Sized | null = null;
  for (const one of all) if (found === null || one.bytes > found.bytes) found = one;
  return found!;
}

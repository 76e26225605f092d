/**
 * Places of WebSockets, handshakes included (MAX_WEBSOCKETS), shared between organizations like those of calls. The server
 * puts an agent's message together unseen, so what all unfinished ones take is bounded by their number only.
 */
import { OrgShares, type ShareHolder } from './org-shares.js';
import { REJECTIONS, type Rejection } from './rejections.js';

export class WebSocketPlaces {
  readonly #placesMax: number;
  readonly #shares: OrgShares;
  #taken = 0;

  constructor(placesMax: number) {
    this.#placesMax = placesMax;
    this.#shares = new OrgShares(placesMax, placesMax);
  }

  get taken(): number {
    return this.#taken;
  }

  /** Null: it has one. */
  take(holder: ShareHolder, orgId: string): Rejection | null {
    if (this.#taken >= this.#placesMax) return REJECTIONS.overloaded;
    if (!this.#shares.take(holder, orgId, this.#taken + 1)) return REJECTIONS.orgInflight;
    this.#taken++;
    return null;
  }

  /** Who holds none gives none back. */
  give(holder: ShareHolder): void {
    if (holder.share === null) return;
    this.#taken--;
    this.#shares.give(holder);
  }
}

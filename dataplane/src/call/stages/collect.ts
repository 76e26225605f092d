/** Waits until the request's body is either here whole or known to be too long, which then streams. */

import type { CallMetering } from '../call-metering.js';
import { type Advance, NEXT, type RoutedStage, WAIT } from '../pipeline.js';
import type { BodyRoom } from '../request-body.js';

/** Bounds the bytes of all bodies that are held whole because they have to be edited. */
export class EditedBodyBudget implements BodyRoom {
  #bytesLeft: number;

  constructor(bytesMax: number) {
    this.#bytesLeft = bytesMax;
  }

  get bytesLeft(): number {
    return this.#bytesLeft;
  }

  /** False: no room; the body streams unedited and its usage is estimated. */
  reserve(bytes: number): boolean {
    if (bytes > this.#bytesLeft) return false;
    this.#bytesLeft -= bytes;
    return true;
  }

  release(bytes: number): void {
    this.#bytesLeft += bytes;
  }
}

export function createCollect(
  metering: Pick<CallMetering, 'bodyBytesWanted'>,
  budget: EditedBodyBudget,
  bufferedBodyBytesMax: number,
  advance: Advance,
): RoutedStage {
  return (x) => {
    const { body } = x;
    if (body === null) return NEXT;
    if (!body.complete) {
      const wanted = metering.bodyBytesWanted(x);
      const { contentLength } = x.request;
      // A body that says it is longer than can be edited is not held back at all.
      const isWanted = wanted > bufferedBodyBytesMax && contentLength <= wanted;
      if (isWanted) body.collectWhole(wanted, budget);
      else if (contentLength > bufferedBodyBytesMax) return NEXT;
    }
    if (body.decided) return NEXT;
    body.onChange = () => {
      body.onChange = null;
      if (!x.over) advance(x);
    };
    return WAIT;
  };
}

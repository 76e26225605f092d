/** Rejects a call past the organization's concurrency limit for calls, WebSockets or calls about runs. */

import type { Rejection } from '../../rejection/rejections.js';
import type { Exchange, RoutedExchange } from '../exchange.js';
import { DONE, NEXT, type StageResult } from '../pipeline.js';

/** Null: a slot was acquired. */
export type AcquireSlot<E extends Exchange = RoutedExchange> = (exchange: E) => Rejection | null;

export const createAcquireSlotStage =
  <E extends Exchange>(acquire: AcquireSlot<E>) =>
  (exchange: E): StageResult => {
    const rejection = acquire(exchange);
    if (rejection === null) return NEXT;
    exchange.reject(rejection);
    return DONE;
  };

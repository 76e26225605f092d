/** Rejects a call past the organization's concurrency limit for calls or WebSockets. */

import type { Rejection } from '../../rejection/rejections.js';
import type { RoutedExchange } from '../exchange.js';
import { DONE, NEXT, type RoutedStage } from '../pipeline.js';

/** Null: a slot was acquired. */
export type AcquireSlot = (exchange: RoutedExchange) => Rejection | null;

export const createAcquireSlotStage =
  (acquire: AcquireSlot): RoutedStage =>
  (exchange) => {
    const rejection = acquire(exchange);
    if (rejection === null) return NEXT;
    exchange.reject(rejection);
    return DONE;
  };

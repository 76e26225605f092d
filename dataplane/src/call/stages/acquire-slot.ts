/** Refuses what goes beyond the organization's share of calls under way, or of WebSockets. */

import type { Rejection } from '../../rejection/rejections.js';
import type { RoutedExchange } from '../exchange.js';
import { DONE, NEXT, type RoutedStage } from '../pipeline.js';

/** Null: it has a place. */
export type AcquireSlot = (x: RoutedExchange) => Rejection | null;

export const createAcquireSlotStage =
  (take: AcquireSlot): RoutedStage =>
  (x) => {
    const rejection = take(x);
    if (rejection === null) return NEXT;
    x.reject(rejection);
    return DONE;
  };

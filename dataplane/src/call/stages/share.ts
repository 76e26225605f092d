/** Refuses what goes beyond the organization's share of calls under way, or of WebSockets. */

import type { RoutedExchange } from '../exchange.js';
import { DONE, NEXT, type RoutedStage } from '../pipeline.js';
import type { Rejection } from '../rejections.js';

/** Null: it has a place. */
export type TakeShare = (x: RoutedExchange) => Rejection | null;

export const createShare =
  (take: TakeShare): RoutedStage =>
  (x) => {
    const rejection = take(x);
    if (rejection === null) return NEXT;
    x.reject(rejection);
    return DONE;
  };

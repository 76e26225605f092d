/** Refuses what goes beyond the organization's share of calls under way. */

import type { RoutedExchange } from '../exchange.js';
import { DONE, NEXT, type RoutedStage } from '../pipeline.js';
import { REJECTIONS } from '../rejections.js';

export type TakeShare = (x: RoutedExchange) => boolean;

export const createShare =
  (take: TakeShare): RoutedStage =>
  (x) => {
    if (take(x)) return NEXT;
    x.reject(REJECTIONS.orgInflight);
    return DONE;
  };

/** What the stages tell the metrics of one call. */
import type { UsageReading } from '../metering/meter.js';
import type { Price } from '../pricing/price.js';
import type { Exchange, RoutedExchange } from './exchange.js';
import type { Rejection } from './rejections.js';

export interface CallMetrics {
  onRejected(x: Exchange, rejection: Rejection): void;
  onSettled(x: RoutedExchange, reading: UsageReading | null, price: Price): void;
  /** A response that comes event by event has begun; `onSettled` ends it. */
  onStreamOpened(): void;
  onHoldExceeded(nanos: number): void;
  onBug(): void;
}

/** What the stages tell the metrics of one call. */
import type { UsageReading } from '../metering/reading/usage-meter.js';
import type { CallCost } from '../pricing/price-table.js';
import type { Rejection } from '../rejection/rejections.js';
import type { Exchange, RoutedExchange } from './exchange.js';

export interface CallMetrics {
  onRejected(exchange: Exchange, rejection: Rejection): void;
  onSettled(exchange: RoutedExchange, reading: UsageReading | null, price: CallCost): void;
  /** A response that comes event by event has begun; `onSettled` ends it. */
  onStreamOpened(): void;
  onReservationExceeded(nanos: number): void;
  onInternalError(): void;
}

/** Metrics that the stages report for one call. */
import type { UsageReading } from '../metering/reading/response-usage-meter-interface.js';
import type { CallCost } from '../pricing/call-cost-calculator.js';
import type { Rejection } from '../rejection/rejections.js';
import type { Exchange, RoutedExchange } from './exchange.js';

export interface CallMetrics {
  onRejected(exchange: Exchange, rejection: Rejection): void;
  onSettled(exchange: RoutedExchange, reading: UsageReading | null, price: CallCost): void;
  /** A response that arrives event by event has begun; `onSettled` counts its end. */
  onStreamOpened(): void;
  onReservationExceeded(nanos: number): void;
  onInternalError(): void;
}

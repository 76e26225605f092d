/** Metering as the stages use it for one call. */

import type { UsageReading } from '../metering/reading/response-usage-meter-interface.js';
import type { CallCost } from '../pricing/call-cost-calculator.js';
import type { MaxCostInput } from '../pricing/max-cost.js';
import type { RequestScanner } from '../scan/request-scanner.js';
import type { ResponseHead } from '../upstream/filter-response-head.js';
import type { RoutedExchange } from './exchange.js';
import type { BodyEdit } from './response-plan-types.js';

export interface CallMetering {
  /** Bytes of the request body to buffer whole, to read or edit it; 0 = the body may stream. */
  requestBytesToBufferForEdit(exchange: RoutedExchange): number;
  /** Reads the whole body, sets the request fields of `metering`, and returns the bytes to send. */
  scanAndEditRequestBody(exchange: RoutedExchange, body: Buffer): Buffer;
  /** Reads a body while it streams; null when metering needs nothing from it. */
  createRequestScanner(exchange: RoutedExchange): RequestScanner | null;
  /** True: the response's usage is booked when it is fetched, so the request may not ask for a byte range. */
  mustDropRangeHeaders(exchange: RoutedExchange): boolean;
  /** Sets `metering.meter` for a response. Returns the edit of the body; null when it stays unchanged. */
  createMeterAndBodyEdit(exchange: RoutedExchange, head: ResponseHead): BodyEdit | null;
  /** Estimated input usage of a request that was sent and never answered; null: it costs nothing. */
  estimateUnanswered(exchange: RoutedExchange): UsageReading | null;
  priceUsage(exchange: RoutedExchange, reading: UsageReading): CallCost;
  /** Upper bound of the call's cost, nano-dollars. */
  maxCostNanos(exchange: RoutedExchange, call: MaxCostInput): number;
}

/** What the stages ask of metering around one call. */

import type { UsageReading } from '../metering/reading/usage-meter.js';
import type { MaxCostInput } from '../pricing/max-cost.js';
import type { CallCost } from '../pricing/price-table.js';
import type { RequestScanner } from '../scan/request-scanner.js';
import type { ResponseHead } from '../upstream/response-headers.js';
import type { RoutedExchange } from './exchange.js';
import type { BodyEdit } from './response-plan.js';

export interface CallMetering {
  /** How many body bytes are wanted in one piece, to read or edit them; 0 = they may stream. */
  bufferBytesWanted(exchange: RoutedExchange): number;
  /** Reads the whole body (sets requestModel, requestItems, requestOrder, usageAsked) and returns the bytes to send. */
  prepareRequestBody(exchange: RoutedExchange, body: Buffer): Buffer;
  /** Reads a body that streams, as it passes; null when nothing is wanted of it. */
  createRequestScanner(exchange: RoutedExchange): RequestScanner | null;
  /** The answer's usage is booked when it is fetched: no part of it may be asked for alone. */
  mustFetchWhole(exchange: RoutedExchange): boolean;
  /** Opens the meter of a response (sets `meter`); returns the edit of the body, null when it stays as it is. */
  openResponseMeter(exchange: RoutedExchange, head: ResponseHead): BodyEdit | null;
  /** What the input of a request cost that was sent and never answered; null: nothing. */
  estimateUnanswered(exchange: RoutedExchange): UsageReading | null;
  priceUsage(exchange: RoutedExchange, reading: UsageReading): CallCost;
  /** What such a call may cost at most, nano-dollars. */
  maxCostNanos(exchange: RoutedExchange, call: MaxCostInput): number;
}

/** What the stages ask of metering around one call. */

import type { UsageReading } from '../metering/meter.js';
import type { BoundedCall } from '../pricing/cost-bound.js';
import type { Price } from '../pricing/price.js';
import type { RequestScanner } from '../scan/request-scanner.js';
import type { ResponseHead } from '../upstream/response-headers.js';
import type { RoutedExchange } from './exchange.js';
import type { BodyEdit } from './response-plan.js';

export interface CallMetering {
  /** How many body bytes are wanted in one piece, to read or edit them; 0 = they may stream. */
  bodyBytesWanted(x: RoutedExchange): number;
  /** Reads the whole body (sets requestModel, requestItems, requestOrder, usageAsked) and returns the bytes to send. */
  request(x: RoutedExchange, body: Buffer): Buffer;
  /** Reads a body that streams, as it passes; null when nothing is wanted of it. */
  requestObserver(x: RoutedExchange): RequestScanner | null;
  /** The answer's usage is booked when it is fetched: no part of it may be asked for alone. */
  fetchedWhole(x: RoutedExchange): boolean;
  /** Opens the meter of a response (sets `meter`); returns the edit of the body, null when it stays as it is. */
  response(x: RoutedExchange, head: ResponseHead): BodyEdit | null;
  /** What the input of a request cost that was sent and never answered; null: nothing. */
  unanswered(x: RoutedExchange): UsageReading | null;
  price(x: RoutedExchange, reading: UsageReading): Price;
  /** What such a call may cost at most, nano-dollars. */
  bound(x: RoutedExchange, call: BoundedCall): number;
}

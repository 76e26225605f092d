/** Metering of one call: reads the request's model, asks for usage where the caller did not, meters and prices. */
import type { Exchange } from '../exchange.js';
import { createMeter } from '../metering/create-meter.js';
import { editChatRequest, mayIncludeUsage } from '../metering/include-usage.js';
import type { UsageReading } from '../metering/meter.js';
import type { MeterMemory } from '../metering/meter-memory.js';
import type { PriceTable } from '../metering/price.js';
import { scanRequest } from '../metering/request-scanner.js';
import { UsageFilter } from '../metering/usage-filter.js';
import type { BodyEdit } from '../relay.js';
import type { ResponseHead } from '../upstream/response-headers.js';
import type { CallMetering, Price } from './call-metering.js';

export class MeterCalls implements CallMetering {
  readonly #prices: PriceTable;
  readonly #memory: MeterMemory;
  readonly #editedBodyBytesMax: number;

  constructor(prices: PriceTable, memory: MeterMemory, editedBodyBytesMax: number) {
    this.#prices = prices;
    this.#memory = memory;
    this.#editedBodyBytesMax = editedBodyBytesMax;
  }

  bodyBytesWanted(x: Exchange): number {
    return wantsEdit(x) ? this.#editedBodyBytesMax : 0;
  }

  request(x: Exchange, body: Buffer): Buffer {
    if (!METERED.has(x.upstream!.usageFormat) || body.length === 0) return body;
    if (wantsEdit(x)) {
      const { facts, edited } = editChatRequest(body);
      x.requestModel = facts.model;
      x.usageAsked = edited !== null;
      return edited ?? body;
    }
    const facts = scanRequest(body, headerOf(x, 'content-type'));
    x.requestModel = facts.model;
    x.requestItems = facts.items;
    return body;
  }

  response(x: Exchange, head: ResponseHead): BodyEdit | null {
    x.meter = createMeter(
      {
        usageFormat: x.upstream!.usageFormat,
        method: x.request.method,
        path: x.target!.rest,
        requestBytes: x.body?.bytes ?? 0,
        requestModel: x.requestModel,
        requestItems: x.requestItems,
        status: x.upstreamStatus,
        contentType: head.mediaType === '' ? null : head.mediaType,
        contentEncoding: head.contentEncoding === '' ? null : head.contentEncoding,
      },
      this.#memory,
    );
    const isStream = head.mediaType === 'text/event-stream' && head.contentEncoding === '';
    return x.usageAsked && isStream ? new UsageRemoval() : null;
  }

  price(x: Exchange, reading: UsageReading): Price {
    return this.#prices.costOf({ upstream: x.upstream!, reading });
  }
}

const METERED: ReadonlySet<string> = new Set(['openai', 'anthropic', 'resend']);

function wantsEdit(x: Exchange): boolean {
  const upstream = x.upstream!;
  if (upstream.usageFormat !== 'openai') return false;
  const encoding = headerOf(x, 'content-encoding');
  return mayIncludeUsage(upstream, x.request.method, x.target!.rest, headerOf(x, 'content-type'), encoding);
}

function headerOf(x: Exchange, name: string): string | null {
  const { headers } = x.request;
  for (let i = 0; i < headers.length; i += 2) if (headers[i] === name) return headers[i + 1]!;
  return null;
}

/** The usage that the caller did not ask for is taken out of the stream again. */
class UsageRemoval implements BodyEdit {
  readonly #filter = new UsageFilter();

  push(chunk: Buffer): Buffer {
    return this.#filter.push(chunk);
  }

  flush(): Buffer {
    return this.#filter.end();
  }
}

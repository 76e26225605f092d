/** A trace collector that accepts OTLP over HTTP as JSON, exactly as the protocol says, and misbehaves on command. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { OtlpSpan } from '@acg/controlplane/traces/otlp-span';
import { Ajv } from 'ajv';

const hex = (digits: number) => ({ type: 'string', pattern: `^(?!0+$)[0-9a-f]{${digits}}$` });
const int64 = { type: 'string', pattern: '^-?[0-9]{1,19}$' };
const attributes = {
  type: 'array',
  items: {
    type: 'object',
    required: ['key', 'value'],
    additionalProperties: false,
    properties: {
      key: { type: 'string', minLength: 1 },
      value: {
        type: 'object',
        minProperties: 1,
        maxProperties: 1,
        additionalProperties: false,
        properties: {
          stringValue: { type: 'string' },
          boolValue: { type: 'boolean' },
          intValue: int64,
          doubleValue: { type: 'number' },
        },
      },
    },
  },
};
const strictObject = (properties: Record<string, unknown>, required = Object.keys(properties)) => ({
  type: 'object',
  additionalProperties: false,
  properties,
  required,
});
const list = (items: unknown) => ({ type: 'array', minItems: 1, items });
const span = strictObject(
  {
    traceId: hex(32),
    spanId: hex(16),
    parentSpanId: hex(16),
    name: { type: 'string', minLength: 1 },
    kind: { enum: [1, 2, 3, 4, 5] },
    startTimeUnixNano: int64,
    endTimeUnixNano: int64,
    attributes,
    status: strictObject({ code: { enum: [0, 1, 2] } }, []),
  },
  ['traceId', 'spanId', 'name', 'kind', 'startTimeUnixNano', 'endTimeUnixNano'],
);
const scopeSpans = strictObject({
  scope: strictObject({ name: { type: 'string' }, version: { type: 'string' } }),
  spans: list(span),
});
const exportRequest = strictObject({
  resourceSpans: list(strictObject({ resource: strictObject({ attributes }), scopeSpans: list(scopeSpans) })),
});

interface ExportRequest {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: OtlpSpan['attributes'] };
    readonly scopeSpans: readonly { readonly spans: readonly OtlpSpan[] }[];
  }[];
}

export class OtlpCollector {
  readonly spans: OtlpSpan[] = [];
  readonly resources: OtlpSpan['attributes'][] = [];
  /** Why exports were rejected. */
  readonly problems: string[] = [];
  readonly headers: IncomingHttpHeaders[] = [];
  requests = 0;
  /** Responds instead of accepting spans; null: accepts them. */
  fault: ((response: ServerResponse) => void) | null = null;
  readonly #validate = new Ajv().compile<ExportRequest>(exportRequest);
  readonly #server = createServer((request, response) => {
    this.requests++;
    this.headers.push(request.headers);
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      if (this.fault !== null) {
        this.fault(response);
        return;
      }
      const problem = this.#receiveSpans(
        `${request.method} ${request.url}`,
        request.headers,
        Buffer.concat(chunks).toString(),
      );
      if (problem !== null) this.problems.push(problem);
      response.writeHead(problem === null ? 200 : 400, { 'content-type': 'application/json' }).end('{}');
    });
  });

  async start(): Promise<void> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  get url(): string {
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('the collector is not listening');
    return `http://127.0.0.1:${address.port}`;
  }

  async stop(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, 'close');
  }

  #receiveSpans(target: string, headers: IncomingHttpHeaders, body: string): string | null {
    if (target !== 'POST /v1/traces') return `no such place: ${target}`;
    if (headers['content-type'] !== 'application/json') return `content-type ${headers['content-type']}`;
    const document: unknown = JSON.parse(body);
    if (!this.#validate(document)) return JSON.stringify(this.#validate.errors);
    for (const { resource, scopeSpans } of document.resourceSpans) {
      this.resources.push(resource.attributes);
      for (const { spans } of scopeSpans) this.spans.push(...spans);
    }
    return null;
  }
}

/** The value of an attribute of a span. */
export function findAttribute(attributes: OtlpSpan['attributes'], key: string): string | number | boolean | undefined {
  const found = attributes.find((attribute) => attribute.key === key);
  return found === undefined ? undefined : (Object.values(found.value)[0] as string | number | boolean);
}

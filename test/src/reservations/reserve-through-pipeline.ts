/** Sends one call through the real gateway pipeline and returns its reservation. Nothing reaches a provider. */
import { once } from 'node:events';
import { type Agent, request as send } from 'node:http';
import type { ProxyFixture } from '@acg/dataplane/call/testing/proxy-fixture';
import { GATEWAY_TOKEN } from '@acg/dataplane/call/testing/proxy-fixture';
import type { Json } from './max-prompt-tokens.js';

/** `nanos`: the reservation in the admission request, nano-dollars. */
export type ReservationOutcome =
  | { readonly kind: 'reserved'; readonly nanos: number }
  | { readonly kind: 'rejected'; readonly status: number; readonly body: Readonly<Record<string, Json>> };

interface EncodedCall {
  readonly path: string;
  readonly contentType: string;
  readonly body: Buffer;
}

/** `gateway` must reject every admission; its upstream has to accept connections, and gets no request. */
export async function reserveThroughPipeline(
  gateway: ProxyFixture,
  agent: Agent,
  { path, contentType, body }: EncodedCall,
): Promise<ReservationOutcome> {
  const before = gateway.admissions.length;
  const request = send({
    agent,
    port: gateway.port,
    method: 'POST',
    path,
    headers: {
      authorization: `Bearer ${GATEWAY_TOKEN}`,
      'content-type': contentType,
      'content-length': body.length,
    },
  });
  request.end(body);
  const [response] = await once(request, 'response');
  const pieces: Buffer[] = [];
  for await (const piece of response) pieces.push(piece as Buffer);
  const admission = gateway.admissions[before];
  if (admission !== undefined) return { kind: 'reserved', nanos: admission.reservationNanos };
  const answer = Buffer.concat(pieces).toString();
  return { kind: 'rejected', status: response.statusCode, body: JSON.parse(answer) as Record<string, Json> };
}

const BOUNDARY = 'boundary-of-the-test';

/** A form in the one spelling that every parser reads the same. */
export function encodeForm(fields: Readonly<Record<string, Json | Buffer>>): { contentType: string; body: Buffer } {
  const parts = Object.entries(fields).flatMap(([name, value]) => {
    const isFile = Buffer.isBuffer(value);
    const head = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"${isFile ? '; filename="a"' : ''}\r\n\r\n`;
    return [Buffer.from(head), isFile ? value : Buffer.from(String(value)), Buffer.from('\r\n')];
  });
  const body = Buffer.concat([...parts, Buffer.from(`--${BOUNDARY}--\r\n`)]);
  return { contentType: `multipart/form-data; boundary=${BOUNDARY}`, body };
}

/**
 * JSON of the same document in another spelling: characters of strings and names as `\u0070` where `pick` returns true,
 * and integers with a fraction of 0 when `fractions` is set.
 */
export function respellJson(json: string, pick: (at: number) => boolean, fractions: boolean): string {
  return json.replaceAll(/"(?:[^"\\]|\\.)*"|\d+/g, (text, from: number) => {
    if (text[0] !== '"') return fractions ? `${text}.0` : text;
    return text.replaceAll(/\\.|[a-z_0-9]/g, (char: string, at: number) =>
      char.length === 1 && pick(from + at) ? `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}` : char,
    );
  });
}

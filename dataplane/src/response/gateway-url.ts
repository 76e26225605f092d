/**
 * Finds the URL by which agents reach the gateway, for the few responses that must contain it: DATAPLANE_PUBLIC_URL,
 * else the request's Host. `X-Forwarded-Proto` and `-Host` are read only from a trusted proxy.
 */
import { CidrList, unmapIpv4 } from '@acg/base/egress/cidr-list';
import type { Exchange } from '../call/exchange.js';

const FORWARDED_HOST = /^(?:[A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::\d{1,5})?$/;

export class GatewayUrlResolver {
  readonly #publicUrl: string | null;
  readonly #trusted: CidrList;

  /** `publicUrl`: without a trailing slash; null = not configured. */
  constructor(publicUrl: string | null, trustedProxyCidrs: readonly string[]) {
    this.#publicUrl = publicUrl;
    this.#trusted = new CidrList(trustedProxyCidrs);
  }

  /** Returns the URL without a trailing slash. Call it only while the agent is connected. */
  resolve(exchange: Pick<Exchange, 'request' | 'res'>): string {
    if (this.#publicUrl !== null) return this.#publicUrl;
    const { headers } = exchange.request;
    let { host } = exchange.request;
    let scheme = 'http';
    const peer = unmapIpv4(Buffer.from(exchange.res.getRemoteAddressAsText()).toString('latin1'));
    if (!this.#trusted.includes(peer)) return `${scheme}://${host}`;
    for (let i = 0; i < headers.length; i += 2) {
      const value = headers[i + 1]!;
      if (headers[i] === 'x-forwarded-proto') scheme = value === 'https' ? 'https' : 'http';
      else if (headers[i] === 'x-forwarded-host' && FORWARDED_HOST.test(value)) host = value;
    }
    return `${scheme}://${host}`;
  }
}

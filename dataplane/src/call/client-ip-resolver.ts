/** Resolves the client IP: the peer's address, or the one that a trusted front proxy reports (TRUSTED_PROXY_CIDRS). */
import { ForwardedForResolver as AddressBehindProxies } from '@acg/base/forwarded-for-resolver';
import type { Exchange } from './exchange.js';

export class ClientIpResolver {
  readonly #forwardedFor: AddressBehindProxies;
  /** False: no proxy is trusted, so `X-Forwarded-For` is not read. */
  readonly #hasTrustedProxies: boolean;

  /** `cidrs`: validated when the configuration was read. */
  constructor(cidrs: readonly string[]) {
    this.#forwardedFor = new AddressBehindProxies(cidrs);
    this.#hasTrustedProxies = cidrs.length > 0;
  }

  resolve(exchange: Exchange): string {
    const peer = Buffer.from(exchange.res.getRemoteAddressAsText()).toString('latin1');
    return this.#forwardedFor.resolve(
      peer,
      this.#hasTrustedProxies ? joinForwardedFor(exchange.request.headers) : null,
    );
  }
}

/** Joins all `X-Forwarded-For` lines in order; null without one. */
function joinForwardedFor(headers: readonly string[]): string | null {
  let joined: string | null = null;
  for (let i = 0; i < headers.length; i += 2) {
    if (headers[i] === 'x-forwarded-for') joined = joined === null ? headers[i + 1]! : `${joined},${headers[i + 1]!}`;
  }
  return joined;
}

import type { ResolvedAddress } from '../egress/check-url.js';

/** Finds the addresses of names. */
export interface NameResolver {
  /**
   * At least one address, or rejects with {@link NameResolutionError}. `tenant`: the organization that gave the name, whose
   * share of lookups it uses; null for an operator's name.
   */
  resolve(name: string, tenant: string | null): Promise<readonly ResolvedAddress[]>;
}

/** The name has no address, or nobody who should know it answers, or its tenant asks for too many at once. */
export class NameResolutionError extends Error {
  readonly code: 'ENOTFOUND' | 'EAI_AGAIN' | 'LOOKUPS_BUSY';
  readonly syscall = 'lookup';

  constructor(name: string, code: NameResolutionError['code']) {
    super(`${name} does not resolve (${code})`);
    this.name = 'NameUnresolved';
    this.code = code;
  }
}

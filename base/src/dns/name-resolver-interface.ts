import type { ResolvedAddress } from '../egress/check-tenant-url.js';

/** Resolves host names to addresses. */
export interface NameResolver {
  /**
   * Resolves to at least one address, or rejects with {@link NameResolutionError}. `tenant`: the organization that
   * configured the name and whose lookup slots it uses; null for an operator's name.
   */
  resolve(name: string, tenant: string | null): Promise<readonly ResolvedAddress[]>;
}

/**
 * The name has no address (ENOTFOUND), its name servers do not answer (EAI_AGAIN), or its tenant has too many lookups
 * queued (LOOKUPS_BUSY).
 */
export class NameResolutionError extends Error {
  readonly code: 'ENOTFOUND' | 'EAI_AGAIN' | 'LOOKUPS_BUSY';
  readonly syscall = 'lookup';

  constructor(name: string, code: NameResolutionError['code']) {
    super(`${name} does not resolve (${code})`);
    this.name = 'NameResolutionError';
    this.code = code;
  }
}

/**
 * Where the bytes of a new token come from: random ones, unless the call runs under an Idempotency-Key, which must be
 * able to give the same token again without it being stored.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';

const secretByteSource = new AsyncLocalStorage<() => Buffer>();

export function withSecretByteSource(next: () => Buffer, work: () => void): void {
  secretByteSource.run(next, work);
}

/** 32 bytes. */
export const createSecretBytes = (): Buffer => secretByteSource.getStore()?.() ?? randomBytes(32);

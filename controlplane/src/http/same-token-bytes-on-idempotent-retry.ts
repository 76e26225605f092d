/**
 * Source of the bytes of new tokens. They are random, except for a request with an Idempotency-Key: a retry must return
 * the same token, which is not stored.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';

const secretByteSource = new AsyncLocalStorage<() => Buffer>();

export function withSecretByteSource(source: () => Buffer, work: () => void): void {
  secretByteSource.run(source, work);
}

/** 32 bytes. */
export const createSecretBytes = (): Buffer => secretByteSource.getStore()?.() ?? randomBytes(32);

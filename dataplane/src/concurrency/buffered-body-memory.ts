/**
 * Limits the memory of bodies that are buffered whole because the gateway must edit or read them. One limit applies to
 * all organizations together. Each organization may use a quarter of it, or one body where that is more. A body that
 * gets no memory and was only to be edited is streamed unchanged, and its usage is estimated.
 */
import { DynamicShare } from '@acg/base/fairness/dynamic-share';
import type { BodyMemory } from '../listener/buffered-or-streamed-request-body.js';

const ORG_BYTES_MAX_RATIO = 1 / 4;

export const createBufferedBodyShare = (bytesMax: number, bodyBytesMax: number): DynamicShare =>
  new DynamicShare({ capacity: bytesMax, laneMax: Math.max(bodyBytesMax, bytesMax * ORG_BYTES_MAX_RATIO) });

/** The memory for one body of the organization. */
export const bodyMemoryOf = (share: DynamicShare, orgId: string): BodyMemory => ({
  reserve: (bytes) => share.tryTake(orgId, bytes),
  release: (bytes) => share.release(orgId, bytes),
});

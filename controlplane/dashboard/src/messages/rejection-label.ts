/** A short title of a rejection reason. Its cause and remedy are in `rejectionAdvice`. */
import { RATE_LIMITS, rejectionReason } from '@acg/base/limit-definitions';

export function rejectionLabel(reason: string): string {
  const limit = RATE_LIMITS.find((row) => rejectionReason(row) === reason);
  if (limit !== undefined) return limit.label;
  const words = reason.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

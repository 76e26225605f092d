/**
 * What a call costs whose agent left before the provider answered: its input, which providers bill once they have begun to
 * work on it. Null: the call generates nothing that is billed by tokens.
 */

import { estimateInput, isBillablePath } from './providers/openai-usage-estimate.js';
import { estimateRequestTokens, normalizePath } from './reading/token-estimates.js';
import { createEmptyCounts, type UsageCounts } from './reading/usage-counts.js';
import type { MeterOptions, UsageReading } from './reading/usage-meter.js';
import { createUsageReading } from './reading/usage-reader.js';

type AbortedCall = Pick<
  MeterOptions,
  'usageFormat' | 'method' | 'path' | 'requestBytes' | 'requestBlobBytes' | 'requestModel' | 'requestedOutput'
>;

export function estimateAbortedCall(asked: AbortedCall): UsageReading | null {
  const counts = asked.method === 'POST' ? estimateCounts(asked) : null;
  // A price per request is due for an answer.
  return counts === null ? null : createUsageReading(counts, 'estimated', asked.requestModel, { units: 0 });
}

function estimateCounts(asked: AbortedCall): UsageCounts | null {
  const path = normalizePath(asked.path);
  if (asked.usageFormat === 'openai') return isBillablePath(path) ? estimateInput(path, asked) : null;
  if (asked.usageFormat !== 'anthropic' || !/\/(?:messages|complete)$/.test(path)) return null;
  return { ...createEmptyCounts(), inUncached: estimateRequestTokens(asked.requestBytes, asked.requestBlobBytes) };
}

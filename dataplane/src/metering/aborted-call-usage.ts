/**
 * Usage of a call whose client disconnected before the provider replied. Its input counts, because providers bill input
 * once they have started to process it. Null: the call generates nothing that is billed by tokens.
 */

import { estimateInput, isBillablePath } from './providers/openai-usage-estimate.js';
import { createEmptyCounts, type UsageCounts } from './reading/provider-usage-to-token-counts.js';
import type { MeterOptions, UsageReading } from './reading/response-usage-meter-interface.js';
import { estimateRequestTokens, normalizePath } from './reading/token-estimates.js';
import { createUsageReading } from './reading/usage-reader-interface.js';

type AbortedCall = Pick<
  MeterOptions,
  'usageFormat' | 'method' | 'path' | 'requestBytes' | 'requestBlobBytes' | 'requestModel' | 'requestedOutput'
>;

export function estimateAbortedCall(call: AbortedCall): UsageReading | null {
  const counts = call.method === 'POST' ? estimateCounts(call) : null;
  // A price per request is due only with a response.
  return counts === null ? null : createUsageReading(counts, 'estimated', call.requestModel, { units: 0 });
}

function estimateCounts(call: AbortedCall): UsageCounts | null {
  const path = normalizePath(call.path);
  if (call.usageFormat === 'openai') return isBillablePath(path) ? estimateInput(path, call) : null;
  if (call.usageFormat !== 'anthropic' || !/\/(?:messages|complete)$/.test(path)) return null;
  return { ...createEmptyCounts(), inUncached: estimateRequestTokens(call.requestBytes, call.requestBlobBytes) };
}

/**
 * Usage of a call whose client disconnected before the provider replied. Its input counts, because providers bill input
 * once they have started to process it. Null: the call generates nothing that is billed by tokens.
 */

import { isBilledBedrockPath } from './providers/bedrock-usage-reader.js';
import { isBilledCoherePath } from './providers/cohere-usage-reader.js';
import { isBilledGeminiPath } from './providers/gemini-usage-reader.js';
import { estimateInput, isBillablePath } from './providers/openai-usage-estimate.js';
import { createEmptyCounts, type UsageCounts } from './reading/provider-usage-to-token-counts.js';
import type { MeterOptions, UsageReading } from './reading/response-usage-meter-interface.js';
import { estimateRequestTokens, isMessagePath, normalizePath } from './reading/token-estimates.js';
import { createUsageReading } from './reading/usage-reader-interface.js';

type AbortedCall = Pick<
  MeterOptions,
  'usageFormat' | 'method' | 'path' | 'requestBytes' | 'requestBlobBytes' | 'requestModel' | 'requestedOutput'
>;

const BILLED_PATHS: Readonly<Record<string, (path: string) => boolean>> = {
  anthropic: isMessagePath,
  gemini: isBilledGeminiPath,
  bedrock: isBilledBedrockPath,
  cohere: isBilledCoherePath,
};

export function estimateAbortedCall(call: AbortedCall): UsageReading | null {
  const counts = call.method === 'POST' ? estimateCounts(call) : null;
  // A price per request is due only with a response.
  return counts === null ? null : createUsageReading(counts, 'estimated', call.requestModel, { units: 0 });
}

function estimateCounts(call: AbortedCall): UsageCounts | null {
  const path = normalizePath(call.path);
  if (call.usageFormat === 'openai') return isBillablePath(path) ? estimateInput(path, call) : null;
  if (BILLED_PATHS[call.usageFormat]?.(path) !== true) return null;
  return { ...createEmptyCounts(), inUncached: estimateRequestTokens(call.requestBytes, call.requestBlobBytes) };
}

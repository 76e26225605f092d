/**
 * What a call costs whose agent left before the provider answered: its input, which providers bill once they have begun to
 * work on it. Null: the call generates nothing that is billed by tokens.
 */
import { plainPath, requestTokens } from './estimate.js';
import type { MeterOptions, UsageReading } from './meter.js';
import { inputOf, isGenerating } from './openai-estimate.js';
import { type Counts, emptyCounts } from './usage-fields.js';
import { readingOf } from './usage-reader.js';

type Asked = Pick<
  MeterOptions,
  'usageFormat' | 'method' | 'path' | 'requestBytes' | 'requestBlobBytes' | 'requestModel' | 'requestOrder'
>;

export function unansweredReading(asked: Asked): UsageReading | null {
  const counts = asked.method === 'POST' ? countsOf(asked) : null;
  // A price per request is due for an answer.
  return counts === null ? null : readingOf(counts, 'estimated', asked.requestModel, { units: 0 });
}

function countsOf(asked: Asked): Counts | null {
  const path = plainPath(asked.path);
  if (asked.usageFormat === 'openai') return isGenerating(path) ? inputOf(path, asked) : null;
  if (asked.usageFormat !== 'anthropic' || !/\/(?:messages|complete)$/.test(path)) return null;
  return { ...emptyCounts(), inUncached: requestTokens(asked.requestBytes, asked.requestBlobBytes) };
}

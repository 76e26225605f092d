/**
 * Reads the tags of a call: `x-gateway-tag: key=value`, several headers or one with commas (docs/contract.md#tags). Tags
 * are the caller's claim. The header never goes upstream, like every `x-gateway-` header.
 */
import { TAG_PATTERN } from '@acg/base/budget-rows';
import { REJECTIONS } from '../../rejection/rejections.js';
import { DONE, NEXT, type RoutedStage } from '../pipeline.js';

const TAGS_MAX = 4;
const TAG = new RegExp(TAG_PATTERN);

export const readTags: RoutedStage = (exchange) => {
  const { headers } = exchange.request;
  for (let i = 0; i < headers.length; i += 2) {
    if (headers[i] !== 'x-gateway-tag') continue;
    const tags = parseTags(headers, i);
    if (tags === null) {
      exchange.reject(REJECTIONS.invalidTag);
      return DONE;
    }
    exchange.admission.tags = tags;
    return NEXT;
  }
  return NEXT;
};

/** The tags of all headers from index `from` on, sorted; null: invalid. */
function parseTags(headers: readonly string[], from: number): readonly string[] | null {
  const tags = new Map<string, string>();
  for (let i = from; i < headers.length; i += 2) {
    if (headers[i] !== 'x-gateway-tag') continue;
    for (const part of headers[i + 1]!.split(',')) {
      const tag = part.trim();
      const key = tag.slice(0, tag.indexOf('='));
      if (!TAG.test(tag) || tags.has(key) || tags.size === TAGS_MAX) return null;
      tags.set(key, tag);
    }
  }
  return [...tags.values()].sort();
}

/** Removes gateway tokens, however they are encoded, from the path that a call's record shows. */
import { normalizeLeniently } from '@acg/base/policy/split-path-strictly-or-leniently';

const PATH_CHARS_MAX = 1024;
const GATEWAY_TOKEN_PATTERN = /acg_[0-9a-f]{64}/gi;
const REDACTED_TOKEN = 'acg_[masked]';

export function redactAndTruncatePath(path: string): string {
  return truncatePath(redactGatewayTokens(path));
}

/** Redacts a text that an agent controls before it is stored in a field of a record. */
export function redactGatewayTokens(text: string): string {
  const plain = text.includes('acg_') ? text.replace(GATEWAY_TOKEN_PATTERN, REDACTED_TOKEN) : text;
  if (!plain.includes('%')) return plain;
  const decoded = normalizeLeniently(plain);
  return decoded.includes('acg_') && decoded.search(GATEWAY_TOKEN_PATTERN) !== -1
    ? decoded.replace(GATEWAY_TOKEN_PATTERN, REDACTED_TOKEN)
    : plain;
}

const truncatePath = (text: string): string => (text.length > PATH_CHARS_MAX ? text.slice(0, PATH_CHARS_MAX) : text);

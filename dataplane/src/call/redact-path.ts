/** The path of a call as its record shows it: a gateway token that stands in it, however it is written, does not. */
import { normalizeLeniently } from '../policy/path-segments.js';

const PATH_CHARS_MAX = 1024;
const GATEWAY_TOKEN_PATTERN = /acg_[0-9a-f]{64}/gi;
const REDACTED_TOKEN = 'acg_[masked]';

export function redactPath(path: string): string {
  return truncatePath(redactGatewayTokens(path));
}

/** Whatever an agent can put into a field of a record. */
export function redactGatewayTokens(text: string): string {
  const plain = text.includes('acg_') ? text.replace(GATEWAY_TOKEN_PATTERN, REDACTED_TOKEN) : text;
  if (!plain.includes('%')) return plain;
  const decoded = normalizeLeniently(plain);
  return decoded.includes('acg_') && decoded.search(GATEWAY_TOKEN_PATTERN) !== -1
    ? decoded.replace(GATEWAY_TOKEN_PATTERN, REDACTED_TOKEN)
    : plain;
}

const truncatePath = (text: string): string => (text.length > PATH_CHARS_MAX ? text.slice(0, PATH_CHARS_MAX) : text);

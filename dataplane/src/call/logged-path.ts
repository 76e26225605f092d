/** The path of a call as its record shows it: a gateway token that stands in it, however it is written, does not. */
import { looseText } from '../policy/call-path.js';

const PATH_CHARS_MAX = 1024;
const GATEWAY_TOKEN = /acg_[0-9a-f]{64}/gi;
const MASKED = 'acg_[masked]';

export function loggedPath(path: string): string {
  return cut(withoutTokens(path));
}

/** Whatever an agent can put into a field of a record. */
export function withoutTokens(text: string): string {
  const plain = text.includes('acg_') ? text.replace(GATEWAY_TOKEN, MASKED) : text;
  if (!plain.includes('%')) return plain;
  const decoded = looseText(plain);
  return decoded.includes('acg_') && decoded.search(GATEWAY_TOKEN) !== -1
    ? decoded.replace(GATEWAY_TOKEN, MASKED)
    : plain;
}

const cut = (text: string): string => (text.length > PATH_CHARS_MAX ? text.slice(0, PATH_CHARS_MAX) : text);

/** Which names of an MCP server's tools, resources and prompts a policy allows. Both planes decide by these rules. */
import { matchesWildcard } from './call-pattern.js';
import type { ModelPatterns, ToolLimit } from './call-rule-source.js';
import { foldMcpName } from './fold-mcp-name.js';

/** Control characters, half surrogate pairs, and blanks at the ends, which some servers remove. */
const NEVER_IN_NAMES = /^\s|\s$|[\0-\x1f\x7f\ud800-\udfff]/u;
/** Parts of a URI that a server may resolve to another URI. */
const RESOLVED_IN_URIS = /(?:^|[/:])\.{1,2}(?:[/?#;]|$)|\\/;
const ASCII_ESCAPE = /%[0-7][0-9a-f]/gi;
/** A URI that is escaped more often is not allowed. */
const DECODINGS_MAX = 4;
const NAME_CHARS_MAX = 2_048;

/**
 * A name is allowed only as it is written; a `deny` also holds for other cases and compatibility forms of the name,
 * because some servers ignore them.
 */
export class McpNameRule {
  readonly #allow: readonly (readonly string[])[] | null;
  readonly #deny: readonly (readonly string[])[];

  constructor({ allow, deny }: ModelPatterns) {
    this.#allow = allow === null ? null : allow.map((pattern) => pattern.split('*'));
    this.#deny = deny.map((pattern) => foldMcpName(pattern).split('*'));
  }

  allows(name: string): boolean {
    if (name.length > NAME_CHARS_MAX || NEVER_IN_NAMES.test(name)) return false;
    const folded = foldMcpName(name);
    if (this.#deny.some((pieces) => matchesWildcard(pieces, folded))) return false;
    return this.#allow === null || this.#allow.some((pieces) => matchesWildcard(pieces, name));
  }

  /** A URI must be allowed as it is written and with its escapes decoded, also those that decoding produces. */
  allowsUri(uri: string): boolean {
    let text = uri;
    for (let decodings = 0; decodings <= DECODINGS_MAX; decodings++) {
      if (RESOLVED_IN_URIS.test(decodeUtf8(text).normalize('NFKC')) || !this.allows(text)) return false;
      const decoded = decodeAscii(text);
      if (decoded === text) return true;
      text = decoded;
    }
    return false;
  }
}

const decodeAscii = (uri: string): string =>
  uri.replace(ASCII_ESCAPE, (code) => String.fromCharCode(Number.parseInt(code.slice(1), 16)));

/** As it is, where its escapes are no UTF-8. */
function decodeUtf8(uri: string): string {
  try {
    return decodeURIComponent(uri);
  } catch {
    return uri;
  }
}

interface CompiledLimit {
  readonly pieces: readonly string[];
  readonly limit: ToolLimit;
}

const compiled = new WeakMap<readonly ToolLimit[], readonly CompiledLimit[]>();

/**
 * The first entry that matches a tool; null: no entry does. Matches in any case and compatibility form, because a server
 * that ignores them would run the tool.
 */
export function findToolLimit(entries: readonly ToolLimit[], tool: string): ToolLimit | null {
  let limits = compiled.get(entries);
  if (limits === undefined) {
    limits = entries.map((limit) => ({ pieces: foldMcpName(limit.tool).split('*'), limit }));
    compiled.set(entries, limits);
  }
  const folded = foldMcpName(tool);
  return limits.find(({ pieces }) => matchesWildcard(pieces, folded))?.limit ?? null;
}

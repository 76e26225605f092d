/** Characters that are not shown: some servers remove them. */
const HIDDEN = /[\p{Cc}\p{Cf}]/gu;

/**
 * One form for all spellings of a name that a careless MCP server may take for the same tool. In upper case first: there
 * `ß` is `SS`, and a dotless `ı` is `I`.
 */
export const foldMcpName = (name: string): string =>
  name.normalize('NFKC').replace(HIDDEN, '').trim().toUpperCase().toLowerCase();

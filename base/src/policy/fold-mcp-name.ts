/** One form for all spellings of a name that a careless MCP server may take for the same tool. */
export const foldMcpName = (name: string): string => name.normalize('NFKC').toLowerCase();

/**
 * Maps the members of a JSON document to line numbers, so that a message can name the line. Expects a document that
 * `JSON.parse` has accepted. Pure.
 */

/** Member names and array indexes, from the document's root. */
export type JsonPath = readonly (string | number)[];

interface NestingLevel {
  readonly isList: boolean;
  /** Name or index of the member that is being read; null when the next string of an object is a name. */
  at: string | number | null;
  readonly names: Set<string>;
}

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],]|\n/g;

interface JsonLineIndex {
  /** Line number of the member; 1 is the first line of the document. */
  lineOf(path: JsonPath): number;
  /** The first duplicate name within one object. `JSON.parse` silently keeps the last of them. */
  readonly repeated: { readonly name: string; readonly line: number } | null;
}

export function indexJsonLines(text: string): JsonLineIndex {
  const lines = new Map<string, number>();
  const levels: NestingLevel[] = [];
  let line = 1;
  let repeated: JsonLineIndex['repeated'] = null;
  const note = (): void => void lines.set(JSON.stringify(levels.map(({ at }) => at)), line);
  for (const [token] of text.matchAll(TOKEN)) {
    const level = levels.at(-1);
    if (token === '\n') line++;
    else if (token === '{' || token === '[') {
      if (level?.isList) note();
      levels.push({ isList: token === '[', at: token === '[' ? 0 : null, names: new Set() });
    } else if (token === '}' || token === ']') levels.pop();
    else if (token === ',') level!.at = level!.isList ? (level!.at as number) + 1 : null;
    else if (level !== undefined && level.at === null) {
      const name = JSON.parse(token) as string;
      if (level.names.has(name)) repeated ??= { name, line };
      level.names.add(name);
      level.at = name;
      note();
    }
  }
  return { lineOf: (path) => lines.get(JSON.stringify(path)) ?? 1, repeated };
}

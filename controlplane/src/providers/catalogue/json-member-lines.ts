/** Finds the line of a value in a JSON text, for messages about a file. */

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+|\n/g;

/** Problem of a text that JSON.parse rejects, with its line from 1. */
export function findSyntaxErrorLine(text: string, error: Error): number {
  const [, position] = /at position (\d+)/.exec(error.message) ?? [];
  return countLines(position === undefined ? text.trimEnd() : text.slice(0, Number(position)));
}

const countLines = (text: string): number => text.split('\n').length;

interface Level {
  readonly pointer: string;
  /** Index of the current element; -1 in an object. */
  index: number;
  /** Name of the current member. */
  name: string;
  names: Set<string> | null;
}

interface MemberLines {
  /** Line from 1, by JSON pointer. */
  readonly lines: ReadonlyMap<string, number>;
  /** JSON pointers of members whose name occurs twice in their object: JSON.parse keeps the last one. */
  readonly duplicates: readonly string[];
}

/** `text` must be valid JSON. */
export function findMemberLines(text: string): MemberLines {
  const lines = new Map<string, number>([['', 1]]);
  const duplicates: string[] = [];
  const levels: Level[] = [];
  let line = 1;
  let isName = false;
  const pointerHere = (): string => {
    const level = levels.at(-1);
    if (level === undefined) return '';
    const part = level.index === -1 ? level.name.replaceAll('~', '~0').replaceAll('/', '~1') : String(level.index);
    return `${level.pointer}/${part}`;
  };
  const noteValue = (): void => {
    if (!lines.has(pointerHere())) lines.set(pointerHere(), line);
  };
  for (const [token] of text.matchAll(TOKEN)) {
    if (token === '\n') {
      line++;
    } else if (token === '{' || token === '[') {
      noteValue();
      const isObject = token === '{';
      levels.push({ pointer: pointerHere(), index: isObject ? -1 : 0, name: '', names: isObject ? new Set() : null });
      isName = isObject;
    } else if (token === '}' || token === ']') {
      levels.pop();
      isName = false;
    } else if (token === ',') {
      const level = levels.at(-1)!;
      if (level.index >= 0) level.index++;
      isName = level.index === -1;
    } else if (token === ':') {
      isName = false;
    } else if (isName) {
      const level = levels.at(-1)!;
      level.name = JSON.parse(token) as string;
      if (level.names!.has(level.name)) duplicates.push(pointerHere());
      level.names!.add(level.name);
      lines.set(pointerHere(), line);
    } else {
      noteValue();
    }
  }
  return { lines, duplicates };
}

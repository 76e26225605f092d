/** Operators for SQL in tagged templates and for Lua. They are patterns: neither language is parsed here. */

export interface Edit {
  /** Offsets in the text; the end is exclusive. */
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
  readonly operator: string;
}

interface Rule {
  readonly operator: string;
  readonly pattern: RegExp;
  readonly replace: (found: string) => string;
}

/** `words`: `a b c d` swaps a with b, and c with d. */
export function listSwaps(words: string): readonly (readonly [from: string, to: string])[] {
  const all = words.split(' ');
  return all.map((word, i) => [word, all[i ^ 1]!]);
}

const swap = (operator: string, words: string, before = '(?<=\\s)', after = '(?=\\s)'): readonly Rule[] =>
  listSwaps(words).map(([from, to]) => ({
    operator,
    pattern: new RegExp(before + from.replace('+', '\\+') + after, 'g'),
    replace: () => to,
  }));
const swapFunctions = (operator: string, words: string): readonly Rule[] =>
  swap(operator, words, '(?<![\\w.])', '(?=\\()');
const drop = (operator: string, pattern: RegExp): Rule => ({ operator, pattern, replace: () => '' });

const INSERTED = /\$\{(?:[^{}]|\{[^{}]*\})*\}/.source;
const OPERAND = `(?:${INSERTED}|'[^']*'|-?\\d+|[a-z_][\\w.]*(?:\\([^()]*\\))?)(?:::\\w+(?:\\[\\])?)?`;
const TEST = `(?:(?:=|<>|<=|>=|<|>|is (?:not )?distinct from) ${OPERAND}|is (?:not )?null)`;

const SQL_RULES: readonly Rule[] = [
  {
    // Not before an operator that binds closer than `or`.
    operator: 'SQL condition dropped',
    pattern: new RegExp(
      `(?<=\\b(?:where|and|or|on|when|having|not)\\s+\\(?|\`\\s*)${OPERAND} ${TEST}(?![\\w.(:]|\\s*[-+*/|])`,
      'g',
    ),
    replace: (found) => `(${found} or true)`,
  },
  ...swap('SQL boundary', '< <= > >='),
  ...swap('SQL sign', '+ -'),
  ...swap('SQL order', 'asc desc asc, desc,'),
  ...swapFunctions('SQL extremum', 'greatest least'),
  drop('SQL lock dropped', /\bfor (?:no key )?update(?: of \w+)?(?: skip locked)?/g),
];

const LUA_RULES: readonly Rule[] = [
  ...swap('Lua boundary', '< <= > >='),
  ...swap('Lua equality', '== ~='),
  ...swap('Lua logic', 'and or'),
  ...swap('Lua sign', '+ -'),
  ...swapFunctions('Lua extremum', 'min max'),
  // A call, an assignment or an `if` of one line; `local` lines only declare.
  drop(
    'Lua line dropped',
    /(?<=^ *)(?=\w)(?!(?:local|for|while)\b)(?:call\(.*\)|[\w.[\]#+ ,]+ = .*[\w)\]}']|if .* end)(?=\s*$)/gm,
  ),
];

const find = (text: string, rules: readonly Rule[]): readonly Edit[] =>
  rules.flatMap(({ operator, pattern, replace }) =>
    Array.from(text.matchAll(pattern), ({ 0: found, index }) => ({
      start: index,
      end: index + found.length,
      replacement: replace(found),
      operator,
    })),
  );

const isBalanced = (line: string): boolean => line.split(/[({[]/).length === line.split(/[)}\]]/).length;

/** `template`: source text of a tagged template with its backticks. */
export const listSqlEdits = (template: string): readonly Edit[] => find(template, SQL_RULES);

/** Ignores comments, except the markers of template sections. */
export function listLuaEdits(source: string): readonly Edit[] {
  const code = source.replaceAll(/--(?!\[\[).*/g, (comment) => ' '.repeat(comment.length));
  return find(code, LUA_RULES).filter(({ start, end }) => isBalanced(code.slice(start, end)));
}

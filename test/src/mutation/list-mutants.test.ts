/** Each operator on a small source: `original → replacement` of every mutant that it generates. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { listMutants } from './list-mutants.js';
import { applyMutant } from './mutant.js';

const generate = (source: string, operator: string, file = 'a.ts'): readonly string[] =>
  listMutants(file, source)
    .filter((mutant) => mutant.operator === operator)
    .map(({ original, replacement }) => `${original} → ${replacement}`);

test.each<[operator: string, source: string, mutants: readonly string[]]>([
  ['boundary', 'x = a < b && c >= d;', ['< → <=', '>= → >']],
  ['equality', 'x = a === b || c !== d;', ['=== → !==', '!== → ===']],
  ['logic', 'x = (a && b) || c;', ['&& → ||', '|| → &&']],
  ['logic', 'x = (a ?? b) && c;', []],
  ['arithmetic', 'x += a * b - c;', ['+= → -=', '* → /', '- → +']],
  ['arithmetic', 'i++; --j; x = -y;', ['i++ → i--', '--j → ++j', '-y → y']],
  ['arithmetic', "x = 'a' + b + c;", []],
  ['negation dropped', 'x = !a;', ['!a → a']],
  ['default dropped', 'x = a ?? b;', ['a ?? b → a']],
  ['value dropped before ??', 'x = a ?? b;', ['a ?? b → (b)']],
  ['condition negated', 'if (a) b(); else c();', ['a → !(a)']],
  ['condition negated', 'x = a > 1 ? b : c; while (d) e();', ['a > 1 → !(a > 1)', 'd → !(d)']],
  ['condition negated', 'if (!a) b(); if (a === b) c();', []],
  ['statement dropped', 'const x = f(); g(x); y = 1;', ['g(x); → ;', 'y = 1; → ;']],
  ['statement dropped', "this.#log.warn({ a }, 'b'); invariant(c); log.info('d');", []],
  ['steps swapped', 'function f() { a(); await b(); x = 1; }', ['a(); await b(); → await b(); a();']],
  ['early return dropped', 'function f() { if (a) return 1; return 2; }', ['return 1; → ;']],
  ['throw dropped', "if (a) throw new Error('b');", ["throw new Error('b'); → ;"]],
  ['jump dropped', 'for (const a of b) { if (a) continue; break; }', ['continue; → ;', 'break; → ;']],
  ['await dropped', 'const x = await f();', ['await f() → f()']],
  ['optional chaining dropped', 'x = a?.b?.[c]?.(d);', ['?. → .', '?. → ', '?. → ']],
  ['boolean', 'x = true; const f = (a: false) => false;', ['true → false', 'false → true']],
  ['constant', 'x = 7 + 60_000; y = 2n;', ['7 → 8', '60_000 → 120000', '2n → (2n + 1n)']],
  ['constant', 'const x: 1 = { 5: a };', []],
  ['part of a key dropped', 'x = `${a}:${b}`;', ["a → ''", "b → ''"]],
  ['part of a key dropped', 'x = `${a} of ${b}`; y = `${a}`;', []],
  ['method swapped', 'x = a.some(f) || Math.max(b, c);', ['some → every', 'max → min']],
  ['method swapped', 'x = a.max(b); y = c.toString();', []],
  ['filter dropped', 'x = a.filter(f).length;', ['a.filter(f) → a']],
])('%s: %s', (operator, source, mutants) => {
  expect(generate(source, operator)).toEqual(mutants);
});

test.each<[operator: string, source: string, mutants: readonly string[]]>([
  [
    'SQL condition dropped',
    'sql`select 1 from a join b on b.id = a.id where org_id = ${orgId} and c is not null`;',
    [
      'b.id = a.id → (b.id = a.id or true)',
      'org_id = ${orgId} → (org_id = ${orgId} or true)',
      'c is not null → (c is not null or true)',
    ],
  ],
  ['SQL condition dropped', 'tx`update a set b = ${b}, c = 1 where d < now() - ${ms}`;', []],
  [
    'SQL condition dropped',
    'const where = sql`org_id = ${orgId}`;',
    ['org_id = ${orgId} → (org_id = ${orgId} or true)'],
  ],
  ['SQL boundary', 'this.#sql`delete from a where at < ${b < c} and n >= 2`;', ['< → <=', '>= → >']],
  ['SQL sign', 'sql`update a set n = n + ${x - 1}`;', ['+ → -']],
  ['SQL order', 'sql`select 1 from a order by b desc, c asc `;', ['desc, → asc,', 'asc → desc']],
  ['SQL extremum', 'sql`select greatest(a, b)`;', ['greatest → least']],
  ['SQL lock dropped', 'tx`select 1 from a for update skip locked`;', ['for update skip locked → ']],
  ['SQL boundary', 'html`a < b`;', []],
])('%s: %s', (operator, source, mutants) => {
  expect(generate(source, operator)).toEqual(mutants);
});

test.each<[operator: string, source: string, mutants: readonly string[]]>([
  ['Lua boundary', 'if a < b then c = 1 end -- d < e', ['< → <=']],
  ['Lua equality', 'if a == b then c() end', ['== → ~=']],
  ['Lua logic', 'local a = b and c or d', ['and → or', 'or → and']],
  ['Lua sign', 'a = b + c', ['+ → -']],
  ['Lua extremum', 'a = max(b, math.min(c))', ['max → min']],
  ['Lua line dropped', "  call('SET', a, b)\n  c = d\n  local e = f", ["call('SET', a, b) → ", 'c = d → ']],
  ['Lua line dropped', 'a = {\n  b = 1,\n}\nif c then d = 1 end', ['if c then d = 1 end → ']],
])('%s: %s', (operator, source, mutants) => {
  expect(generate(source, operator, 'a.lua')).toEqual(mutants);
});

const root = fileURLToPath(new URL('../../..', import.meta.url));

test.each(readdirSync(join(root, 'controlplane/src/ledger')).filter((name) => /(?<!\.test)\.ts$/.test(name)))(
  'mutants of ledger/%s differ from the source and can be parsed',
  (name) => {
    const source = readFileSync(join(root, 'controlplane/src/ledger', name), 'utf8');
    for (const mutant of listMutants(name, source).filter((_, i) => i % 40 === 0)) {
      expect(mutant.replacement).not.toBe(mutant.original);
      expect(ts.transpileModule(applyMutant(source, mutant), { reportDiagnostics: true }).diagnostics).toEqual([]);
    }
  },
);

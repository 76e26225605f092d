import fc from 'fast-check';
import { expect, test } from 'vitest';
import { countItems, decodeStringAt, type JsonObjectNode, walkJson } from './walk-json-objects.js';

const WATCHED = new Set(['a', 'b']);

function walkText(
  text: string,
  ignored = '',
): { objects: JsonObjectNode[]; document: JsonObjectNode | null; body: Buffer } {
  const body = Buffer.from(text);
  const objects: JsonObjectNode[] = [];
  const document = walkJson(body, {
    watchedMembers: WATCHED,
    shouldIgnore: (_parent, member) => member === ignored,
    onObjectEnd: (object) => objects.push(object),
  });
  return { objects, document, body };
}

test('walkJson finds watched members at any depth and in any spelling', () => {
  const { objects, body } = walkText('{"x":[{"A":"1"},{"c":{"\\u0062":"\\u0032"}}], "b" : {"a":null}}');
  const found = objects.map(({ name, rootMember: root, values }) => [
    name,
    root,
    ...[...values].map(([k, span]) => [k, decodeStringAt(body, span)]),
  ]);
  expect(found).toEqual([
    ['x', 'x', ['a', '1']],
    ['c', 'x', ['b', '2']],
    ['x', 'x'],
    ['b', 'b'],
    ['', '', ['b', null]],
  ]);
});

test('walkJson keeps an object that is a member’s value, but not an object in an array', () => {
  const { document } = walkText('{"a":{"b":1},"b":[{"a":1}]}');
  expect([...document!.objects.keys()]).toEqual(['a']);
});

test('walkJson ignores nested objects of an ignored one, and reports duplicate members', () => {
  const { objects } = walkText('{"x":{"a":{"c":{}}},"y":{"a":1,"A":2}}', 'x');
  expect(objects.map(({ name, isIgnored, hasDuplicateMember }) => [name, isIgnored, hasDuplicateMember])).toEqual([
    ['c', true, false],
    ['a', true, false],
    ['x', true, false],
    ['y', false, true],
    ['', false, false],
  ]);
});

test('walkJson sees the same objects and members as JSON.parse', () => {
  const name = fc.constantFrom('a', 'b', 'c', 'q"', '\\', '{', 'é');
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      fc.constantFrom('{"a":1}', '\\"', '', '[', '\u2028'),
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(name, tie('value'), { maxKeys: 4, noNullPrototype: true }),
    ),
  }));
  fc.assert(
    fc.property(value, fc.constantFrom(undefined, 2), (document, indent) => {
      const text = JSON.stringify(document, null, indent);
      const seen = walkText(text);
      const expected: unknown[] = [];
      collectObjects(document, expected);
      const found = seen.objects.map(({ values }) =>
        Object.fromEntries(
          [...values].map(([key, { start, end }]) => [key, JSON.parse(seen.body.toString('utf8', start, end))]),
        ),
      );
      expect(found).toEqual(expected);
      if (Array.isArray(document)) {
        const items = document.filter(
          (item) => typeof item === 'string' || (typeof item === 'object' && item !== null),
        );
        expect(countItems(seen.body, { start: 0, end: seen.body.length })).toBe(items.length);
      }
    }),
  );
});

/** Collects objects, inner ones first, with their watched members. */
function collectObjects(value: unknown, into: unknown[]): void {
  if (typeof value !== 'object' || value === null) return;
  for (const inner of Object.values(value)) collectObjects(inner, into);
  if (Array.isArray(value)) return;
  into.push(Object.fromEntries(Object.entries(value).filter(([key, inner]) => WATCHED.has(key) && inner !== null)));
}

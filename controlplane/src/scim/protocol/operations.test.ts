import { expect, test } from 'vitest';
import { readOperations, unwrapValue } from './operations.js';

const read = (...Operations: readonly unknown[]) => readOperations({ Operations });
const problem = (body: unknown) => {
  try {
    return readOperations(body);
  } catch (error) {
    const { details, message, code } = error as { details: { scimType: string }; message: string; code: string };
    return [code, details.scimType, message];
  }
};
const ofOne = (operation: unknown) => problem({ Operations: [operation] });

test('reads operations in their order; op ignores case, an empty path is none', () => {
  expect(
    read(
      { op: 'Replace', path: 'active', value: false },
      { op: 'ADD', value: { active: true } },
      { op: 'add', path: '', value: {} },
      { op: 'add', path: null, value: null },
      { op: 'remove', path: 'members' },
    ),
  ).toEqual([
    { op: 'replace', path: 'active', value: false },
    { op: 'add', path: null, value: { active: true } },
    { op: 'add', path: null, value: {} },
    { op: 'add', path: null, value: null },
    { op: 'remove', path: 'members', value: undefined },
  ]);
});

test('1 to 1 000 operations', () => {
  const one = { op: 'add', path: 'x', value: 1 };
  expect(read(...Array(1_000).fill(one))).toHaveLength(1_000);
  for (const body of [{}, { Operations: [] }, { Operations: 'x' }, { Operations: Array(1_001).fill(one) }])
    expect(problem(body)).toEqual(['invalid_input', 'invalidSyntax', 'Operations must have 1 to 1000 operations']);
});

test('each broken rule has its type and its text', () => {
  const syntax = ['invalid_input', 'invalidSyntax', 'op must be add, replace or remove'];
  for (const operation of [null, undefined, 7, {}, { op: 'move' }, { op: ['add'] }, { op: 7 }])
    expect(ofOne(operation)).toEqual(syntax);
  const path = ['invalid_input', 'invalidPath', 'path must have at most 500 characters'];
  for (const wrong of [7, {}, 'p'.repeat(501)]) expect(ofOne({ op: 'add', path: wrong, value: 1 })).toEqual(path);
  expect(ofOne({ op: 'add', path: 'p'.repeat(500), value: 1 })).toHaveLength(1);
  const required = ['invalid_input', 'invalidPath', 'path is required with the operation remove'];
  for (const none of [undefined, null, '']) expect(ofOne({ op: 'remove', path: none })).toEqual(required);
  for (const op of ['add', 'replace'])
    expect(ofOne({ op, path: 'x' })).toEqual([
      'invalid_input',
      'invalidValue',
      `value is required with the operation ${op}`,
    ]);
});

test('a value in a list of one, or in an object, stands for itself', () => {
  for (const wrapped of ['x', { value: 'x' }, ['x'], [{ value: 'x' }]]) expect(unwrapValue(wrapped)).toBe('x');
  expect(unwrapValue({ value: null })).toBeNull();
  expect(unwrapValue(null)).toBeNull();
  expect(unwrapValue(['a', 'b'])).toEqual(['a', 'b']);
  expect(unwrapValue([])).toEqual([]);
  expect(unwrapValue({ other: 1 })).toEqual({ other: 1 });
});

import { expect, test } from 'vitest';
import { OperatorNameResolver } from './operator-name-resolver.js';

const AT = (address: string) => [{ address, family: 4 }];

function scene() {
  const state = {
    nowPerfMs: 0,
    answer: async (): Promise<{ address: string; family: number }[]> => AT('10.0.0.1'),
    lookups: 0,
  };
  const names = new OperatorNameResolver(
    () => {
      state.lookups++;
      return state.answer();
    },
    () => state.nowPerfMs,
  );
  return { state, names };
}

test('operator names: concurrent calls share one lookup, and its answer is cached', async () => {
  const { state, names } = scene();
  await Promise.all([names.resolve('api.example.com'), names.resolve('api.example.com')]);
  await names.resolve('api.example.com');
  expect(state.lookups).toBe(1);
});

test('operator names: serves the cached answer while a new lookup runs, hangs or fails', async () => {
  const { state, names } = scene();
  await names.resolve('api.example.com');
  state.nowPerfMs = 40_000;
  state.answer = () => new Promise(() => {});
  expect(await names.resolve('api.example.com')).toEqual(AT('10.0.0.1'));
  expect(await names.resolve('api.example.com')).toEqual(AT('10.0.0.1'));
  expect(state.lookups).toBe(2);
});

test('operator names: a new answer replaces the cached one', async () => {
  const { state, names } = scene();
  await names.resolve('api.example.com');
  state.nowPerfMs = 40_000;
  state.answer = async () => AT('10.0.0.2');
  expect(await names.resolve('api.example.com')).toEqual(AT('10.0.0.1'));
  await new Promise(setImmediate);
  expect(await names.resolve('api.example.com')).toEqual(AT('10.0.0.2'));
});

test('operator names: a failure is cached for 5 s', async () => {
  const { state, names } = scene();
  state.answer = () => Promise.reject(Object.assign(new Error('x'), { code: 'ENOTFOUND' }));
  for (let i = 0; i < 2; i++)
    await expect(names.resolve('api.example.com')).rejects.toMatchObject({ code: 'ENOTFOUND' });
  expect(state.lookups).toBe(1);
  state.nowPerfMs = 5_001;
  state.answer = async () => AT('10.0.0.1');
  expect(await names.resolve('api.example.com')).toEqual(AT('10.0.0.1'));
});

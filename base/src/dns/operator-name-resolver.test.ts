import { expect, test } from 'vitest';
import { OperatorNameResolver } from './operator-name-resolver.js';

const AT = (address: string) => [{ address, family: 4 }];

function scene() {
  const state = {
    nowTick: 0,
    answer: async (): Promise<{ address: string; family: number }[]> => AT('10.0.0.1'),
    lookups: 0,
  };
  const names = new OperatorNameResolver(
    () => {
      state.lookups++;
      return state.answer();
    },
    () => state.nowTick,
  );
  return { state, names };
}

test('operator names: one lookup at a time, kept for a while', async () => {
  const { state, names } = scene();
  await Promise.all([names.resolve('api.example.com'), names.resolve('api.example.com')]);
  await names.resolve('api.example.com');
  expect(state.lookups).toBe(1);
});

test('operator names: what was known serves while it is looked up again, and while lookups hang or fail', async () => {
  const { state, names } = scene();
  await names.resolve('api.example.com');
  state.nowTick = 40_000;
  state.answer = () => new Promise(() => {});
  expect(await names.resolve('api.example.com')).toEqual(AT('10.0.0.1'));
  expect(await names.resolve('api.example.com')).toEqual(AT('10.0.0.1'));
  expect(state.lookups).toBe(2);
});

test('operator names: a new answer counts once it is there', async () => {
  const { state, names } = scene();
  await names.resolve('api.example.com');
  state.nowTick = 40_000;
  state.answer = async () => AT('10.0.0.2');
  expect(await names.resolve('api.example.com')).toEqual(AT('10.0.0.1'));
  await new Promise(setImmediate);
  expect(await names.resolve('api.example.com')).toEqual(AT('10.0.0.2'));
});

test('operator names: a failure is not asked for again for 5 s', async () => {
  const { state, names } = scene();
  state.answer = () => Promise.reject(Object.assign(new Error('x'), { code: 'ENOTFOUND' }));
  for (let i = 0; i < 2; i++)
    await expect(names.resolve('api.example.com')).rejects.toMatchObject({ code: 'ENOTFOUND' });
  expect(state.lookups).toBe(1);
  state.nowTick = 5_001;
  state.answer = async () => AT('10.0.0.1');
  expect(await names.resolve('api.example.com')).toEqual(AT('10.0.0.1'));
});

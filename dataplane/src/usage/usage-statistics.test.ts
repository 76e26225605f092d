import type { IAddressSighting, IRejectionCount } from '@acg/proto/messages';
import { expect, test } from 'vitest';
import { RejectionAggregator } from './rejection-aggregator.js';
import { TokenIpObservations } from './report-new-client-ips-per-token.js';

const MINUTE = 60_000;
const describe = () => ({ path: '/v1/models' });

test('rejections: sends one count per agent, provider, reason and minute, once', () => {
  const sent: IRejectionCount[] = [];
  const aggregator = new RejectionAggregator((count) => sent.push(count) > 0);
  for (let i = 0; i < 1000; i++) aggregator.record('o', 'a', 'openai', 'rpm', 5 * MINUTE + i, describe);
  aggregator.record('o', 'a', 'openai', 'budget', 5 * MINUTE, describe);
  aggregator.record('o', 'a', 'openai', 'rpm', 6 * MINUTE, describe);
  aggregator.flush(7 * MINUTE);
  aggregator.flush(7 * MINUTE);
  const counts = sent.map(({ reason, minuteMs, count }) => [reason, minuteMs, count]);
  expect(counts).toEqual([
    ['rpm', 5 * MINUTE, 1000],
    ['budget', 5 * MINUTE, 1],
    ['rpm', 6 * MINUTE, 1],
  ]);
  expect(new Set(sent.map((count) => count.id)).size).toBe(3);
  expect(sent[0]).toMatchObject({ orgId: 'o', agentId: 'a', providerSlug: 'openai' });
});

test('rejections: limits the buckets, and counts what a full spool does not accept as overflow', () => {
  let isAccepting = true;
  const aggregator = new RejectionAggregator(() => isAccepting, 2);
  for (const agent of ['a', 'b', 'c', 'c']) aggregator.record('o', agent, '', 'paused', 0, describe);
  expect(aggregator.overflowCount).toBe(2);
  aggregator.record('o', 'a', '', 'paused', 0, describe);
  isAccepting = false;
  aggregator.flush(0);
  expect(aggregator.overflowCount).toBe(5);
});

test('rejections: one organization cannot use all buckets, and each flush frees its buckets', () => {
  const sent: IRejectionCount[] = [];
  const aggregator = new RejectionAggregator((count) => sent.push(count) > 0, 16);
  const count = (orgId: string, kinds: number) => {
    for (let i = 0; i < kinds; i++) aggregator.record(orgId, `${orgId} ${i}`, '', 'paused', 0, describe);
  };
  const flushed = (): [number, number] => {
    sent.length = 0;
    aggregator.flush(0);
    const of = (orgId: string) => sent.filter((rejectionCount) => rejectionCount.orgId === orgId).length;
    return [of('greedy'), of('other')];
  };
  count('greedy', 100);
  count('other', 2);
  expect(flushed()).toEqual([14, 2]);
  count('other', 1);
  count('greedy', 100);
  expect(flushed()).toEqual([14, 1]);
  expect(aggregator.overflowCount).toBe(172);
});

test('rejections: each budget that rejects has a count with a call of its own', () => {
  const sent: IRejectionCount[] = [];
  const aggregator = new RejectionAggregator((count) => sent.push(count) > 0);
  for (const budgetId of ['one', 'one', 'one', 'one', 'two'])
    aggregator.record('o', 'a', 'openai', 'budget_run', 0, () => ({ budgetId }), budgetId);
  aggregator.flush(MINUTE);
  const counts = sent.map(({ calls, count }) => [calls!.at(-1)!.budgetId, count]);
  expect(counts).toEqual([
    ['one', 4],
    ['two', 1],
  ]);
});

test('rejections: a count carries its first three calls, a bounded number of all organizations together', () => {
  const sent: IRejectionCount[] = [];
  const aggregator = new RejectionAggregator((count) => sent.push(count) > 0);
  let described = 0;
  const countCalls = () => ({ path: `/${described++}` });
  for (let i = 0; i < 10; i++) aggregator.record('o', 'a', 'openai', 'rpm', i, countCalls);
  aggregator.flush(MINUTE);
  expect(sent.map(({ calls, count }) => [calls!.map(({ path }) => path), count])).toEqual([[['/0', '/1', '/2'], 10]]);

  sent.length = 0;
  for (let i = 0; i < 3_000; i++) aggregator.record('greedy', `a${i}`, '', 'paused', i, countCalls);
  for (let i = 0; i < 5; i++) aggregator.record('other', `b${i}`, '', 'paused', i, countCalls);
  aggregator.flush(MINUTE);
  const callsOf = (org: string) => sent.filter(({ orgId }) => orgId === org).flatMap(({ calls }) => calls).length;
  expect([callsOf('greedy') < 1_000, callsOf('other'), sent.length]).toEqual([true, 5, 3_005]);
});

test('address observations: reports an address once per 10 minutes and key, hashed with the key id', () => {
  const sent: IAddressSighting[] = [];
  const observations = new TokenIpObservations((observation) => sent.push(observation) > 0);
  for (let second = 0; second < 600; second++) observations.observe('o', 'a', 'k1', '203.0.113.7', second * 1000);
  expect(sent).toHaveLength(1);
  observations.observe('o', 'a', 'k1', '203.0.113.7', 600_000);
  observations.observe('o', 'a', 'k2', '203.0.113.7', 600_000);
  expect(sent).toHaveLength(3);
  const [first, again, otherKey] = sent.map((observation) => Buffer.from(observation.addressHash!).toString('hex'));
  expect(again).toBe(first);
  expect(otherKey).not.toBe(first);
  expect(JSON.stringify(sent)).not.toContain('203.0.113');
});

test('address observations: limits the addresses per key and the keys', () => {
  const sent: IAddressSighting[] = [];
  const observations = new TokenIpObservations((observation) => sent.push(observation) > 0, {
    keysMax: 2,
    addressesPerKeyMax: 3,
  });
  for (let i = 0; i < 100; i++) observations.observe('o', 'a', 'k', `198.51.100.${i}`, i);
  expect(sent).toHaveLength(3);
  observations.observe('o', 'a', 'k', '198.51.100.200', 20 * MINUTE); // the old addresses were evicted
  expect(sent).toHaveLength(4);
  for (const key of ['k', 'k2', 'k3', 'k']) observations.observe('o', 'a', key, '192.0.2.1', 20 * MINUTE);
  expect(sent).toHaveLength(8); // k was evicted when k3 came, so its address is reported again
});

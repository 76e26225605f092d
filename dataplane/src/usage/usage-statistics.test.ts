import type { IAddressSighting, IRejectionCount } from '@acg/proto/messages';
import { expect, test } from 'vitest';
import { AddressObservations } from './address-observations.js';
import { RejectionAggregator } from './rejection-aggregator.js';

const MINUTE = 60_000;

test('rejections: one count per agent, provider, reason and minute, each sent once', () => {
  const sent: IRejectionCount[] = [];
  const tally = new RejectionAggregator((count) => sent.push(count) > 0);
  for (let i = 0; i < 1000; i++) tally.record('o', 'a', 'openai', 'rpm', 5 * MINUTE + i);
  tally.record('o', 'a', 'openai', 'budget', 5 * MINUTE);
  tally.record('o', 'a', 'openai', 'rpm', 6 * MINUTE);
  tally.flush(7 * MINUTE);
  tally.flush(7 * MINUTE);
  const facts = sent.map(({ reason, minuteMs, count }) => [reason, minuteMs, count]);
  expect(facts).toEqual([
    ['rpm', 5 * MINUTE, 1000],
    ['budget', 5 * MINUTE, 1],
    ['rpm', 6 * MINUTE, 1],
  ]);
  expect(new Set(sent.map((count) => count.id)).size).toBe(3);
  expect(sent[0]).toMatchObject({ orgId: 'o', agentId: 'a', providerSlug: 'openai' });
});

test('rejections: bounded in kinds, and what a full spool refuses is counted', () => {
  let takes = true;
  const tally = new RejectionAggregator(() => takes, 2);
  for (const agent of ['a', 'b', 'c', 'c']) tally.record('o', agent, '', 'paused', 0);
  expect(tally.overflowCount).toBe(2);
  tally.record('o', 'a', '', 'paused', 0);
  takes = false;
  tally.flush(0);
  expect(tally.overflowCount).toBe(5);
});

test('rejections: an organization with many kinds leaves others room, and has it again after each flush', () => {
  const sent: IRejectionCount[] = [];
  const tally = new RejectionAggregator((count) => sent.push(count) > 0, 16);
  const count = (orgId: string, kinds: number) => {
    for (let i = 0; i < kinds; i++) tally.record(orgId, `${orgId} ${i}`, '', 'paused', 0);
  };
  const flushed = (): [number, number] => {
    sent.length = 0;
    tally.flush(0);
    const of = (orgId: string) => sent.filter((one) => one.orgId === orgId).length;
    return [of('greedy'), of('other')];
  };
  count('greedy', 100);
  count('other', 2);
  expect(flushed()).toEqual([14, 2]);
  count('other', 1);
  count('greedy', 100);
  expect(flushed()).toEqual([14, 1]);
  expect(tally.overflowCount).toBe(172);
});

test('sightings: an address is reported once per 10 minutes and key, hashed with the key', () => {
  const sent: IAddressSighting[] = [];
  const sightings = new AddressObservations((sighting) => sent.push(sighting) > 0);
  for (let second = 0; second < 600; second++) sightings.observe('o', 'a', 'k1', '203.0.113.7', second * 1000);
  expect(sent).toHaveLength(1);
  sightings.observe('o', 'a', 'k1', '203.0.113.7', 600_000);
  sightings.observe('o', 'a', 'k2', '203.0.113.7', 600_000);
  expect(sent).toHaveLength(3);
  const [first, again, otherKey] = sent.map((sighting) => Buffer.from(sighting.addressHash!).toString('hex'));
  expect(again).toBe(first);
  expect(otherKey).not.toBe(first);
  expect(JSON.stringify(sent)).not.toContain('203.0.113');
});

test('sightings: bounded in addresses per key and in keys', () => {
  const sent: IAddressSighting[] = [];
  const sightings = new AddressObservations((sighting) => sent.push(sighting) > 0, {
    keysMax: 2,
    addressesPerKeyMax: 3,
  });
  for (let i = 0; i < 100; i++) sightings.observe('o', 'a', 'k', `198.51.100.${i}`, i);
  expect(sent).toHaveLength(3);
  sightings.observe('o', 'a', 'k', '198.51.100.200', 20 * MINUTE); // the old ones made room
  expect(sent).toHaveLength(4);
  for (const key of ['k', 'k2', 'k3', 'k']) sightings.observe('o', 'a', key, '192.0.2.1', 20 * MINUTE);
  expect(sent).toHaveLength(8); // k was forgotten when k3 came, so it is reported anew
});

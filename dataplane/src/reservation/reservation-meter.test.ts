/** How far a streamed response may go on its reservation of 40 tokens at 100 nano-dollars each. */
import { expect, test } from 'vitest';
import type { ReservedOutput } from '../call/exchange.js';
import type { UsageMeter } from '../metering/reading/response-usage-meter-interface.js';
import { CALL_WITHOUT_MODEL } from '../pricing/max-cost.js';
import { ReservationMeter } from './reservation-meter.js';

function createMeter(output: Partial<ReservedOutput> = {}, endsAtLines = true) {
  const usage = { tokensOutSeen: 0 };
  const reserved = { tokens: 40, isStatedByRequest: true, answerCount: 1, call: CALL_WITHOUT_MODEL, ...output };
  const meter = new ReservationMeter(usage as UsageMeter, reserved, 100, endsAtLines);
  /** The most tokens with which the reservation suffices. */
  const findUsable = (): number => {
    for (usage.tokensOutSeen = 0; !meter.isExhausted; ) usage.tokensOutSeen++;
    return usage.tokensOutSeen - 1;
  };
  return { meter, usage, findUsable };
}

test('reservation meter: an estimate suffices for three quarters of its tokens', () => {
  expect(createMeter({ isStatedByRequest: false, answerCount: 3 }).findUsable()).toBe(30);
});

test.each([
  [1, 44],
  [3, 48],
])(
  'reservation meter: a stated maximum allows two empty chunks more, and two for each of %i answers',
  (answerCount, usable) => {
    expect(createMeter({ answerCount }).findUsable()).toBe(usable);
  },
);

test('reservation meter: forwards a chunk whole when even its shortest tokens fit, else line by line', () => {
  const { meter, usage } = createMeter();
  const chunk = Buffer.from(`${'x'.repeat(10)}\n${'y'.repeat(169)}`);
  expect(meter.nextCheckOffset(chunk.subarray(0, 176), 0)).toBe(176); // 44 tokens of 4 bytes
  expect(meter.nextCheckOffset(chunk, 0)).toBe(11);
  expect(meter.nextCheckOffset(chunk, 11)).toBe(180);
  usage.tokensOutSeen = 44;
  expect(meter.nextCheckOffset(chunk, 0)).toBe(11);
  expect(meter.nextCheckOffset(chunk, 11)).toBe(180); // the line does not end in this chunk
});

test.each([
  ['CR', '\r'],
  ['CRLF', '\r\n'],
])('reservation meter: checks lines that end in %s', (_what, end) => {
  const { meter, usage } = createMeter();
  usage.tokensOutSeen = 44;
  const chunk = Buffer.from(`a${end}b${end}${end}c`);
  const length = end.length;
  expect([0, 1 + length, 2 + 2 * length, 2 + 3 * length].map((at) => meter.nextCheckOffset(chunk, at))).toEqual([
    1 + length,
    2 + 2 * length,
    2 + 3 * length,
    chunk.length,
  ]);
});

test('reservation meter: checks a response without lines every 256 bytes', () => {
  const { meter, usage } = createMeter({}, false);
  usage.tokensOutSeen = 44;
  expect(meter.nextCheckOffset(Buffer.alloc(300), 0)).toBe(256);
  expect(meter.nextCheckOffset(Buffer.alloc(300), 256)).toBe(300);
});

test('reservation meter: grows by a quarter, and at least by what the tokens seen need', () => {
  const { meter, usage, findUsable } = createMeter({ isStatedByRequest: false });
  usage.tokensOutSeen = 31; // of 42 tokens
  expect(meter.computeGrowthNanos(4_000)).toBe(1_000);
  usage.tokensOutSeen = 40; // of 54 tokens
  expect(meter.computeGrowthNanos(4_000)).toBe(1_400);
  meter.addGrowth(1_400);
  expect(findUsable()).toBe(40);
});

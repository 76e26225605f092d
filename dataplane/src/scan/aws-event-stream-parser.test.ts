import fc from 'fast-check';
import { expect, test } from 'vitest';
import { AwsEventStreamParser, encodeEventStreamFrame, FRAME_BYTES_MAX } from './aws-event-stream-parser.js';

interface Frame {
  readonly isError: boolean;
  readonly name: string;
  readonly payload: string;
}

function parse(body: Buffer, cuts: readonly number[] = []) {
  const frames: Frame[] = [];
  const parser = new AwsEventStreamParser({
    onFrame: (isError, name, bytes, from, to) =>
      frames.push({ isError, name, payload: bytes.toString('utf8', from, to) }),
  });
  const edges = [0, ...cuts.map((cut) => cut % (body.length + 1)).sort((a, b) => a - b), body.length];
  for (let i = 1; i < edges.length; i++) {
    const chunk = Buffer.from(body.subarray(edges[i - 1], edges[i]));
    parser.push(chunk);
    chunk.fill(0x22);
  }
  return { frames, isBroken: parser.isBroken, isInFrame: parser.isInFrame };
}

const event = (name: string, payload: string): Buffer =>
  encodeEventStreamFrame([':message-type', 'event', ':event-type', name], payload);
const cutsArb = fc.array(fc.nat(10_000), { maxLength: 20 });
const eventArb = fc.tuple(
  fc.string({ minLength: 1, maxLength: 40, unit: 'binary' }),
  fc.string({ maxLength: 300, unit: 'binary' }),
);

test('event stream: reads the frame that AWS publishes as an example', () => {
  // `{'foo':'bar'}` with the header content-type: application/json (awslabs/aws-c-event-stream, all_headers).
  const frame = Buffer.from(
    '0000003d0000002007fd8396' +
      '0c636f6e74656e742d747970650700106170706c69636174696f6e2f6a736f6e' +
      '7b27666f6f273a27626172277d8d9c08b1',
    'hex',
  );
  expect(parse(frame)).toEqual({
    frames: [{ isError: false, name: '', payload: "{'foo':'bar'}" }],
    isBroken: false,
    isInFrame: false,
  });
});

test('event stream: skips headers of all types', () => {
  const values = ['00', '01', '0201', '030102', '0401020304', '050102030405060708', '060003010203'];
  const more = [...values, '080102030405060708', `09${'11'.repeat(16)}`].map((value) =>
    Buffer.from(`0178${value}`, 'hex'),
  );
  const plain = encodeEventStreamFrame([':event-type', 'last'], 'x');
  const own = plain.subarray(12, plain.length - 5);
  const headers = Buffer.concat([...more, own]);
  const payload = Buffer.concat([headers, Buffer.from('x')]);
  expect(parse(reframe(headers.length, payload))).toEqual({
    frames: [{ isError: false, name: 'last', payload: 'x' }],
    isBroken: false,
    isInFrame: false,
  });
});

/** A frame whose headers are the first bytes of `content`, with right checksums. */
function reframe(headersLength: number, content: Buffer): Buffer {
  const whole = Buffer.alloc(16 + content.length);
  whole.writeUInt32BE(whole.length, 0);
  whole.writeUInt32BE(headersLength, 4);
  content.copy(whole, 12);
  return withChecksums(whole);
}

function withChecksums(frame: Buffer): Buffer {
  const copy = Buffer.from(frame);
  copy.writeUInt32BE(crc(copy.subarray(0, 8)), 8);
  copy.writeUInt32BE(crc(copy.subarray(0, copy.length - 4)), copy.length - 4);
  return copy;
}

/** CRC-32 of IEEE 802.3, bit by bit. */
function crc(bytes: Buffer): number {
  let sum = 0xffffffff;
  for (const byte of bytes) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit++) sum = sum & 1 ? (sum >>> 1) ^ 0xedb88320 : sum >>> 1;
  }
  return (sum ^ 0xffffffff) >>> 0;
}

test('event stream: the checksums are CRC-32', () => {
  const frame = event('a', '{}');
  expect(withChecksums(frame)).toEqual(frame);
});

test('event stream: reads any frames with any chunking', () => {
  fc.assert(
    fc.property(fc.array(eventArb, { maxLength: 6 }), cutsArb, (events, cuts) => {
      const body = Buffer.concat(events.map(([name, payload]) => event(name, payload)));
      const expected = events.map(([name, payload]) => ({ isError: false, name, payload }));
      const result = { frames: expected, isBroken: false, isInFrame: false };
      expect(parse(body, cuts)).toEqual(result);
      expect(parse(body, [...Array(body.length).keys()])).toEqual(result);
    }),
  );
});

test('event stream: reports an exception and an error', () => {
  const exception = [':message-type', 'exception', ':exception-type', 'throttlingException'];
  const error = [':message-type', 'error', ':error-code', 'InternalFailure', ':error-message', 'x'];
  const body = Buffer.concat([encodeEventStreamFrame(exception, '{}'), encodeEventStreamFrame(error, '')]);
  expect(parse(body).frames).toEqual([
    { isError: true, name: 'throttlingException', payload: '{}' },
    { isError: true, name: 'InternalFailure', payload: '' },
  ]);
});

test('event stream: a changed byte ends the reading at its frame', () => {
  fc.assert(
    fc.property(fc.nat(), fc.integer({ min: 1, max: 255 }), cutsArb, (at, change, cuts) => {
      const first = event('first', '{"a":1}');
      const body = Buffer.concat([first, event('second', '{"b":2}'), event('third', '{"c":3}')]);
      const index = at % body.length;
      body[index] = body[index]! ^ change;
      const { frames, isBroken } = parse(body, cuts);
      const isSecondWhole = index >= first.length + event('second', '{"b":2}').length;
      expect(frames).toHaveLength(index < first.length ? 0 : isSecondWhole ? 2 : 1);
      expect(isBroken).toBe(true);
    }),
  );
});

test('event stream: never throws and never reads what is no frame', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 400 }), cutsArb, (bytes, cuts) => {
      expect(parse(Buffer.from(bytes), cuts).frames).toEqual([]);
    }),
  );
});

test('event stream: any headers with right checksums either parse or end the reading', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), fc.uint8Array({ maxLength: 20 }), (headers, payload) => {
      const { frames, isBroken } = parse(reframe(headers.length, Buffer.from([...headers, ...payload])));
      expect(frames.length === 1).toBe(!isBroken);
    }),
  );
});

test.each([
  ['shorter than its own parts', (frame: Buffer) => frame.writeUInt32BE(20, 0)],
  ['with headers beyond its end', (frame: Buffer) => frame.writeUInt32BE(1_000, 4)],
  ['longer than the bound', (frame: Buffer) => frame.writeUInt32BE(FRAME_BYTES_MAX + 1, 0)],
])('event stream: a frame %s ends the reading', (_what, change) => {
  const frame = event('a', '{"x":"1234567890"}');
  change(frame);
  const body = Buffer.concat([withChecksums(frame), event('b', '{}')]);
  expect(parse(body)).toMatchObject({ frames: [], isBroken: true });
  expect(parse(body, [1, 5, 13])).toMatchObject({ frames: [], isBroken: true });
});

test('event stream: finds the end of the frame that contains a byte', () => {
  const first = event('a', '{}');
  const body = Buffer.concat([first, event('b', '{}')]);
  const parser = new AwsEventStreamParser({ onFrame: () => {} });
  expect(parser.frameEnd(body, 0)).toBe(first.length);
  expect(parser.frameEnd(body, first.length)).toBe(body.length);
  expect(parser.frameEnd(body.subarray(0, first.length - 1), 0)).toBe(-1);
  for (const held of [1, 3, 4, 12, first.length - 1]) {
    const later = new AwsEventStreamParser({ onFrame: () => {} });
    later.push(body.subarray(0, held));
    expect(later.frameEnd(body, held)).toBe(first.length);
    expect(later.frameEnd(body.subarray(held), 0)).toBe(first.length - held);
    expect(later.frameEnd(Buffer.alloc(0), 0)).toBe(-1);
  }
});

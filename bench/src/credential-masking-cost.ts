/**
 * Cost of masking, ns per byte: ordinary text and the worst known pairs of credential and echoed text, in headers,
 * bodies and WebSocket messages. `indexOf` is the search that the masker replaced. Run: `node bench/dist/credential-masking-cost.js`.
 */
import { cpus } from 'node:os';
import {
  BodyMasker,
  compileMaskPatterns,
  maskBuffer,
  maskHeaderValue,
} from '@acg/dataplane/upstream/masking/credential-mask';

const ROUNDS = 60;
const RATIO_MAX = 3;

/** Text of `bytes` bytes, composed of `parts` in a fixed pseudo-random order. */
function mixture(bytes: number, parts: readonly string[]): Buffer {
  let state = 5;
  let text = '';
  while (text.length < bytes) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    text += parts[(state >> 16) % parts.length]!;
  }
  return Buffer.from(text.slice(0, bytes));
}

function fibonacci(length: number): string {
  let [before, word] = ['a', 'ab'];
  while (word.length < length) [before, word] = [word, word + before];
  return word.slice(0, length);
}

const a = (count: number): string => 'a'.repeat(count);
const KEY = `sk-proj-${'Ab1-xZ9_'.repeat(20)}`;
const LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEF';
const EVENTS = ['the', ' model', ' answers', ' with', ' text', ' in', ' small', ' pieces'].map(
  (word) =>
    `data: {"id":"chatcmpl-9x","object":"chat.completion.chunk","choices":[{"delta":{"content":"${word}"}}]}\n\n`,
);

interface Pair {
  readonly name: string;
  readonly form: string;
  /** The echoed text consists of these. */
  readonly parts: readonly string[];
}

const ORDINARY: readonly Pair[] = [
  { name: 'ordinary text, 168-byte key', form: KEY, parts: EVENTS },
  { name: 'ordinary text, 8-byte key', form: 'secretse', parts: EVENTS },
];

const HOSTILE: readonly Pair[] = [
  { name: 'a × 8 in a', form: a(8), parts: ['a'] },
  { name: 'a × 8 in a × 7 and b', form: a(8), parts: [`${a(7)}b`] },
  { name: 'a × 8 in a × 8 and b', form: a(8), parts: [`${a(8)}b`] },
  { name: '8-byte key, again and again, with gaps', form: 'secretse', parts: ['secretse', 'secretse ', 'secret'] },
  { name: '(ab) × 4 in ab', form: 'abababab', parts: ['ab'] },
  { name: 'a × 24 in a', form: a(24), parts: ['a'] },
  { name: 'a × 8192 in a', form: a(8_192), parts: ['a'] },
  { name: 'a × 4096, b, a × 4095 in a', form: `${a(4_096)}b${a(4_095)}`, parts: ['a'] },
  { name: 'a × 8191, b in a', form: `${a(8_191)}b`, parts: ['a'] },
  { name: 'a × 99, b in a × 99, c', form: `${a(99)}b`, parts: [`${a(99)}c`] },
  { name: '(ab) × 12, x in ab', form: `${'ab'.repeat(12)}x`, parts: ['ab'] },
  { name: 'Fibonacci word of 8192 in one', form: fibonacci(8_192), parts: [fibonacci(100_000)] },
  { name: 'Fibonacci word of 40 in one', form: fibonacci(40), parts: [fibonacci(100_000)] },
  { name: 'its pieces', form: fibonacci(60), parts: [fibonacci(24), fibonacci(30), fibonacci(40), 'b'] },
  { name: 'random a and b', form: mixture(8_192, ['a', 'b']).toString(), parts: ['a', 'b'] },
  { name: 'the first 24 of 32 letters', form: LETTERS, parts: [LETTERS.slice(0, 24)] },
  { name: 'beginnings of it', form: LETTERS, parts: [LETTERS.slice(0, 24), LETTERS.slice(0, 26), LETTERS.slice(0, 8)] },
  { name: 'a × 25, b in its pieces', form: `${a(25)}b`, parts: [a(24), `${a(9)}c`, 'aab'] },
];

interface Way {
  readonly name: string;
  readonly bytes: number;
  /** Returns the work to measure. */
  prepare(pair: Pair, bytes: number): () => void;
}

const body = (pieceBytes: number): Way => ({
  name: `body in chunks of ${pieceBytes}`,
  bytes: 1 << 18,
  prepare({ form, parts }, bytes) {
    const text = mixture(bytes, parts);
    const forms = compileMaskPatterns([form]);
    // The mask edits the buffer in place, so each round copies the text. All measurements include the cost of that
    // copy.
    const piece = Buffer.alloc(pieceBytes);
    return () => {
      const mask = new BodyMasker(forms);
      for (let at = 0; at < bytes; at += pieceBytes)
        mask.push(piece.subarray(0, text.copy(piece, 0, at, at + pieceBytes)));
    };
  },
});

const WAYS: readonly Way[] = [
  {
    name: 'header value of 60 KB',
    bytes: 60_000,
    prepare({ form, parts }, bytes) {
      const value = mixture(bytes, parts).toString('latin1');
      const forms = compileMaskPatterns([form]);
      return () => void maskHeaderValue(value, forms);
    },
  },
  body(200),
  body(4_096),
  body(65_536),
  {
    name: 'message of 1 MiB',
    bytes: 1 << 20,
    prepare({ form, parts }, bytes) {
      const text = mixture(bytes, parts);
      const forms = compileMaskPatterns([form]);
      const message = Buffer.alloc(bytes);
      return () => {
        text.copy(message);
        maskBuffer(message, forms);
      };
    },
  },
];

/**
 * Minimum of all rounds for each work, ns. The works alternate, so that none is measured while the compiler still
 * optimizes.
 */
function leastNs(works: readonly (() => void)[], rounds: number): number[] {
  const least = works.map(() => Number.POSITIVE_INFINITY);
  for (let round = 0; round < rounds; round++) {
    for (let i = 0; i < works.length; i++) {
      const start = process.hrtime.bigint();
      works[i]!();
      least[i] = Math.min(least[i]!, Number(process.hrtime.bigint() - start));
    }
  }
  return least;
}

console.log(
  `Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}; ns per byte, least of ${ROUNDS}`,
);
let passed = true;
const pairs = [...ORDINARY, ...HOSTILE];
// V8 recompiles some code when another kind of text arrives.
for (const way of WAYS)
  leastNs(
    pairs.map((pair) => way.prepare(pair, way.bytes)),
    ROUNDS / 4,
  );
for (const way of WAYS) {
  const searches = ORDINARY.map(({ form, parts }) => {
    const [text, bytes] = [mixture(way.bytes, parts), Buffer.from(form)];
    return () => void text.indexOf(bytes);
  });
  const costs = leastNs([...pairs.map((pair) => way.prepare(pair, way.bytes)), ...searches], ROUNDS);
  const usual = Math.max(...costs.slice(0, ORDINARY.length));
  const worst = Math.max(...costs.slice(ORDINARY.length, pairs.length));
  passed &&= worst <= RATIO_MAX * usual;
  console.log(`\n${way.name}: worst ${(worst / usual).toFixed(2)} × ordinary`);
  const names = [...pairs.map(({ name }) => name), ...ORDINARY.map(({ name }) => `indexOf: ${name}`)];
  for (let i = 0; i < names.length; i++) {
    console.log(`  ${names[i]!.padEnd(42)} ${(costs[i]! / way.bytes).toFixed(2).padStart(6)}`);
  }
}
if (!passed) process.exitCode = 1;

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type BodyModelResult, createBodyModelReader } from './body-model-reader.js';

const JSON_HEADERS = ['content-type', 'application/json'];

function read(
  text: string | Buffer,
  place: Parameters<typeof createBodyModelReader>[0] = 'json',
  headers: readonly string[] = JSON_HEADERS,
  sizes: readonly number[] = [],
): BodyModelResult {
  const reader = createBodyModelReader(place, headers);
  if (typeof reader === 'string') return { problem: reader };
  const body = Buffer.from(text as string);
  let at = 0;
  for (const size of [...sizes, body.length]) {
    reader.observe(Buffer.from(body.subarray(at, at + size)));
    at += size;
  }
  return reader.finish(body);
}

test.each<[string, readonly string[]]>([
  ['{"model":"gpt-5-mini","messages":[]}', ['gpt-5-mini']],
  ['{"messages":[{"content":"{\\"model\\":\\"x\\"}"}],"model":"a"}', ['a']],
  ['{"\\u006dodel":"a"}', ['a']],
  ['{"model":"a","metadata":{"model":"b"}}', ['a']],
  ['{"model":"a","models":["b","c"]}', ['a', 'b', 'c']],
  ['{"model":"a","models":"b"}', ['a', 'b']],
  ['{"model":"a","tools":[{"type":"image_generation","model":"b"},{"type":"x"}]}', ['a', 'b']],
  ['{"model":"a","preset":"p"}', ['a', '@preset/p']],
  ['{"model":"a","preset":null,"fallbacks":null}', ['a']],
  ['{"model":"a","fallbacks":[{"model":"b"},{"model":"c","max_tokens":1}]}', ['a', 'b', 'c']],
  ['{"model":"a","fallbacks":["b"]}', ['a', 'b']],
  ['{"model":"a","fallbacks":"default"}', ['a', '@preset/default']],
])('reads from %s the models %j', (text, models) => {
  expect(read(text)).toEqual({ models });
});

test.each([
  ['{}', 'unnamed'],
  ['[]', 'unnamed'],
  ['"model"', 'unnamed'],
  ['{"model":null}', 'unnamed'],
  ['{"model":["a"]}', 'unnamed'],
  ['{"model":{"id":"a"}}', 'unnamed'],
  ['{"request":{"model":"a"}}', 'unnamed'],
  ['{"model":"a","models":[1]}', 'unnamed'],
  ['{"preset":"p"}', 'unnamed'],
  ['{"model":"a","preset":1}', 'unnamed'],
  ['{"model":"a","fallbacks":true}', 'unnamed'],
  ['{"model":"a","Preset":"p"}', 'ambiguous'],
  ['{"model":"a","Fallbacks":[]}', 'ambiguous'],
  ['{"model":"a","model":"a"}', 'ambiguous'],
  ['{"model":"a","MODEL":"b"}', 'ambiguous'],
  ['{"model":"a","Models":["b"]}', 'ambiguous'],
  ['', 'not_readable'],
  ['model=a', 'not_readable'],
  ['{"model":"a"}{"model":"b"}', 'not_readable'],
  ['\ufeff{"model":"a"}', 'not_readable'],
])('rejects the body %s as %s', (text, problem) => {
  expect(read(text)).toEqual({ problem });
});

const batch = (...models: unknown[]): string =>
  JSON.stringify({ requests: models.map((model, i) => ({ custom_id: `c${i}`, params: { model } })) });

test('reads the model of each request of a batch', () => {
  expect(read(batch('a', 'b', 'a'), 'batch')).toEqual({ models: ['a', 'b', 'a'] });
  expect(read(batch(), 'batch')).toEqual({ problem: 'unnamed' });
  expect(read(batch('a', undefined), 'batch')).toEqual({ problem: 'unnamed' });
  expect(read(batch('a', 7), 'batch')).toEqual({ problem: 'unnamed' });
  const falling = { requests: [{ custom_id: 'c', params: { model: 'a', fallbacks: [{ model: 'b' }] } }] };
  expect(read(JSON.stringify(falling), 'batch')).toEqual({ models: ['a', 'b'] });
  expect(read('{"requests":[{"custom_id":"c","Params":{"model":"a"},"params":{"model":"b"}}]}', 'batch')).toEqual({
    problem: 'ambiguous',
  });
});

test.each<[string[], Parameters<typeof createBodyModelReader>[0], string]>([
  [['content-type', 'application/json', 'content-encoding', 'gzip'], 'json', 'encoded'],
  [['content-type', 'application/json', 'content-encoding', 'identity'], 'json', 'encoded'],
  [['content-type', 'application/x-www-form-urlencoded'], 'json', 'media_type'],
  [['content-type', 'text/plain'], 'json', 'media_type'],
  [['content-type', 'application/json; charset=utf-16'], 'json', 'media_type'],
  [['content-type', 'application/json', 'content-type', 'text/plain'], 'json', 'ambiguous'],
  [[], 'json', 'media_type'],
  [['content-type', 'application/json'], 'form', 'media_type'],
  [['content-type', 'multipart/form-data; boundary=b'], 'json', 'media_type'],
  [['content-type', 'multipart/form-data; boundary=b; boundary=c'], 'json_or_form', 'media_type'],
])('with the headers %j, rejects a body in %s as %s', (headers, place, problem) => {
  expect(read('{"model":"a"}', place, headers)).toEqual({ problem });
});

const form = (...fields: [string, string][]): string =>
  `${fields.map(([name, value]) => `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`).join('')}--b--`;

test.each<[[string, string][], BodyModelResult]>([
  [
    [
      ['file', 'x'],
      ['model', 'whisper-1'],
    ],
    { models: ['whisper-1'] },
  ],
  [[['file', 'x']], { problem: 'unnamed' }],
  [
    [
      ['model', 'a'],
      ['model', 'b'],
    ],
    { problem: 'ambiguous' },
  ],
  [[['Model', 'a']], { problem: 'ambiguous' }],
  [[['model[]', 'a']], { problem: 'ambiguous' }],
])('reads a form with %j as %j', (fields, expected) => {
  expect(read(form(...fields), 'json_or_form', ['content-type', 'multipart/form-data; boundary=b'])).toEqual(expected);
});

/** Parser behaviors that exist among providers: each reads the same text differently. */
interface ParserBehavior {
  readonly firstWins: boolean;
  readonly ignoresCase: boolean;
  /** Names end at NUL. */
  readonly cStrings: boolean;
  /** Drops lone surrogates. */
  readonly dropsLoneSurrogates: boolean;
  readonly skipsBom: boolean;
}

/** The model that such a parser reads from the document. */
function readModelAs(habits: ParserBehavior, bytes: Buffer): unknown {
  let text = bytes.toString();
  if (habits.skipsBom) text = text.replace(/^\ufeff/, '');
  const nameOf = (raw: string): string => {
    let name = JSON.parse(`"${raw}"`) as string;
    if (habits.cStrings) name = name.split('\0')[0]!;
    if (habits.dropsLoneSurrogates) name = name.replace(/[\ud800-\udfff]/gu, '');
    return habits.ignoresCase ? name.toLowerCase() : name;
  };
  // Only members of the outermost object matter in the generated documents.
  JSON.parse(text);
  let depth = 0;
  let found: unknown;
  let seen = false;
  const token = /"((?:[^"\\]|\\.)*)"\s*(:?)|[{}[\]]/g;
  for (let match = token.exec(text); match !== null; match = token.exec(text)) {
    const [all, raw, colon] = match;
    if (raw === undefined) depth += '{['.includes(all) ? 1 : -1;
    else if (colon === ':' && depth === 1 && nameOf(raw) === 'model' && !(habits.firstWins && seen)) {
      seen = true;
      const value = /^\s*("(?:[^"\\]|\\.)*")/.exec(text.slice(token.lastIndex));
      found = value === null ? undefined : JSON.parse(value[1]!);
    }
  }
  return found;
}

const parserBehaviors = fc.record({
  firstWins: fc.boolean(),
  ignoresCase: fc.boolean(),
  cStrings: fc.boolean(),
  dropsLoneSurrogates: fc.boolean(),
  skipsBom: fc.boolean(),
});

/** Spellings of names, many of which some parser reads as `model`. */
const spelled = fc.constantFrom(
  'model',
  '\\u006dodel',
  'mod\\u0065l',
  'Model',
  'MODEL',
  'model\\u0000',
  'model\\u0000x',
  'mo\\ud800del',
  '\\udc00model',
  'models',
  'messages',
  'x',
  'é',
);
const value = fc.constantFrom(
  '"allowed"',
  '"forbidden"',
  '"\\u0061llowed"',
  '1e400',
  '-0',
  '123456789012345678901234567890',
  'null',
  '[{"model":"forbidden"}]',
  '{"model":"forbidden","model":"allowed"}',
  '{"a":{"b":{}}}',
  '"text with \\"model\\":\\"forbidden\\""',
);
const blank = fc.constantFrom('', ' ', '\n', '\t \r');
const prefix = fc.constantFrom('', '', '', '\ufeff', ' ', '\u00a0');
const noise = fc.constantFrom('', '', '', '', '\xff', '\xc0\x80', '\x00');

test('no parser reads another model than the checked one from an accepted body', () => {
  let accepted = 0;
  fc.assert(
    fc.property(
      parserBehaviors,
      fc.array(fc.tuple(blank, spelled, blank, value), { minLength: 1, maxLength: 4 }),
      prefix,
      noise,
      fc.array(fc.nat(12), { maxLength: 6 }),
      (parser, members, before, garbage, sizes) => {
        const text = `${before}{${members.map(([a, name, b, v]) => `${a}"${name}"${b}:${v}`).join()}}`;
        const body = Buffer.concat([Buffer.from(text), Buffer.from(garbage, 'latin1')]);
        const models = read(body, 'json', JSON_HEADERS, sizes);
        if ('problem' in models) return;
        accepted++;
        expect(models.models).toContain(readModelAs(parser, body));
      },
    ),
    { numRuns: 20_000 }, // one in a hundred bodies is accepted
  );
  expect(accepted).toBeGreaterThan(200); // the test accepts a part of the bodies
});

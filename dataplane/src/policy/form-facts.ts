/** What a form says about how much its call may cost at most: pictures to edit, sound to write down. */
import { soundSeconds } from '../scan/sound-seconds.js';
import type { HoldFacts } from './hold-facts.js';
import { readForm, strictBoundary } from './strict-form.js';

const NOTHING: HoldFacts = {
  outputTokensMax: null,
  answers: 1,
  inputs: 1,
  textTokens: 0,
  predictedTokens: 0,
  imagesIn: 0,
  pagesIn: 0,
  refers: false,
  speed: 'usual',
  cacheTtl: 'none',
  hosted: { uses: 0, turns: 1, containers: 0, refers: false, addedTokens: 0 },
  partialImages: 0,
  heardSeconds: 0,
};
const INTEGER = /^\d{1,6}$/;

/** `headers` flat, lower-case names. `odd`: a number is given twice, or is none. */
export function formFacts(body: Buffer, headers: readonly string[], path: string): HoldFacts | 'odd' {
  let type = '';
  for (let i = 0; i < headers.length; i += 2) if (headers[i] === 'content-type') type = headers[i + 1]!;
  const boundary = strictBoundary(type.trim());
  const fields = boundary === null ? 'not_form' : readForm(body, boundary);
  if (typeof fields === 'string') return 'odd';
  if (!path.includes('/images/')) {
    // A file is heard or seen: how many tokens it is, is not known here.
    const files = fields.filter(({ value }) => value === null).map(({ bytes }) => soundSeconds(bytes));
    const heardSeconds = files.reduce((sum, seconds) => (sum === null || seconds === null ? null : sum + seconds), 0);
    return {
      ...NOTHING,
      textTokens: body.length,
      refers: true,
      heardSeconds: files.length === 0 ? null : heardSeconds,
    };
  }
  let imagesIn = 0;
  let textTokens = 0;
  const numbers = new Map<string, number>();
  for (const { name, value } of fields) {
    if (value === null) imagesIn++;
    else textTokens += Buffer.byteLength(value);
    const plain = name
      .normalize('NFKC')
      .toLowerCase()
      .replace(/^\W+|\W+$/g, '');
    if (plain !== 'n' && plain !== 'partial_images') continue;
    if (value === null || !INTEGER.test(value) || numbers.has(plain)) return 'odd';
    numbers.set(plain, Number(value));
  }
  return {
    ...NOTHING,
    answers: Math.max(1, numbers.get('n') ?? 1),
    partialImages: numbers.get('partial_images') ?? 0,
    imagesIn,
    textTokens,
  };
}

/** Reads from a multipart form the facts that bound the cost of its call: images to edit, audio to transcribe. */
import { measureAudioSeconds } from '../../scan/media/measure-audio-duration-by-frames.js';
import { parseStrictBoundary, parseStrictMultipart } from '../body/strict-multipart-parser.js';
import type { ReservationFacts } from './reservation-facts.js';

const EMPTY_FACTS: ReservationFacts = {
  outputTokensMax: null,
  answerCount: 1,
  inputCount: 1,
  textTokens: 0,
  predictedTokens: 0,
  inputImages: 0,
  inputPages: 0,
  hasExternalContent: false,
  speed: 'usual',
  cacheTtl: 'none',
  hostedTools: { usesMax: 0, turnsMax: 1, containers: 0, hasExternalContent: false, addedTokens: 0 },
  partialImages: 0,
  generatedImages: 0,
  searchUnits: 0,
  audioSeconds: 0,
};
const INTEGER = /^\d{1,6}$/;

/**
 * Returns the facts. `headers`: flat, lower-case names. `invalid`: not a strict form, or a number is duplicate or
 * malformed.
 */
export function readFormReservationFacts(
  body: Buffer,
  headers: readonly string[],
  path: string,
): ReservationFacts | 'invalid' {
  let type = '';
  for (let i = 0; i < headers.length; i += 2) if (headers[i] === 'content-type') type = headers[i + 1]!;
  const boundary = parseStrictBoundary(type.trim());
  const fields = boundary === null ? 'not_form' : parseStrictMultipart(body, boundary);
  if (typeof fields === 'string') return 'invalid';
  if (!path.includes('/images/')) {
    // The token count of an audio file is unknown here.
    const files = fields.filter(({ value }) => value === null).map(({ bytes }) => measureAudioSeconds(bytes));
    const audioSeconds = files.reduce((sum, seconds) => (sum === null || seconds === null ? null : sum + seconds), 0);
    return {
      ...EMPTY_FACTS,
      textTokens: body.length,
      hasExternalContent: true,
      audioSeconds: files.length === 0 ? null : audioSeconds,
    };
  }
  let inputImages = 0;
  let textTokens = 0;
  const numbers = new Map<string, number>();
  for (const { name, value } of fields) {
    if (value === null) inputImages++;
    else textTokens += Buffer.byteLength(value);
    const plain = name
      .normalize('NFKC')
      .toLowerCase()
      .replace(/^\W+|\W+$/g, '');
    if (plain !== 'n' && plain !== 'partial_images') continue;
    if (value === null || !INTEGER.test(value) || numbers.has(plain)) return 'invalid';
    numbers.set(plain, Number(value));
  }
  return {
    ...EMPTY_FACTS,
    answerCount: Math.max(1, numbers.get('n') ?? 1),
    partialImages: numbers.get('partial_images') ?? 0,
    inputImages: inputImages,
    textTokens,
  };
}

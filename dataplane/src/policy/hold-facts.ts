/** What a call's JSON body says about how much it may cost at most. The document was read strictly before (strict-json.ts). */
import { JsonScanner, type ScanSink } from '../scan/json-scanner.js';
import { compilePaths } from '../scan/scan-paths.js';

interface HoldFacts {
  /** Null: none is stated. */
  readonly outputTokensMax: number | null;
  /** How many answers are asked for. */
  readonly answers: number;
  /** The answer comes later, to another call: nobody would be told what it cost. */
  readonly background: boolean;
  /** It refers to content that is not in it: files, images by address, earlier answers. */
  readonly refers: boolean;
  /** A dearer speed of service is asked for. */
  readonly fast: boolean;
}

const MAXIMUM = 0;
const ANSWERS = 1;
const BACKGROUND = 2;
const REFERENCE = 3;
const TIER = 4;
const PATHS = compilePaths({
  max_tokens: MAXIMUM,
  max_completion_tokens: MAXIMUM,
  max_output_tokens: MAXIMUM,
  n: ANSWERS,
  best_of: ANSWERS,
  background: BACKGROUND,
  previous_response_id: REFERENCE,
  conversation: REFERENCE,
  prompt_id: REFERENCE,
  container: REFERENCE,
  'messages[].content[].image_url': REFERENCE,
  'messages[].content[].image_url.url': REFERENCE,
  'messages[].content[].file': REFERENCE,
  'messages[].content[].file.file_id': REFERENCE,
  'messages[].content[].source.url': REFERENCE,
  'messages[].content[].source.file_id': REFERENCE,
  'system[].source.file_id': REFERENCE,
  'input[].id': REFERENCE,
  'input[].content[].file_id': REFERENCE,
  'input[].content[].file_url': REFERENCE,
  'input[].content[].image_url': REFERENCE,
  service_tier: TIER,
  speed: TIER,
});
const INTEGER = /^\d{1,12}$/;
const FAST: ReadonlySet<string> = new Set(['"priority"', '"fast"']);

/** Null: a maximum is given twice, or is no integer. */
export function holdFacts(body: Buffer): HoldFacts | null {
  const sink = new HoldSink();
  new JsonScanner(PATHS, sink).push(body, 0, body.length);
  return sink.isOdd ? null : sink;
}

class HoldSink implements HoldFacts, ScanSink {
  outputTokensMax: number | null = null;
  answers = 1;
  background = false;
  refers = false;
  fast = false;
  isOdd = false;

  value(slot: number, text: string | null): void {
    if (text === 'null') return;
    if (slot === MAXIMUM) {
      if (this.outputTokensMax !== null || text === null || !INTEGER.test(text)) this.isOdd = true;
      else this.outputTokensMax = Number(text);
    } else if (slot === ANSWERS) {
      if (text === null || !INTEGER.test(text)) this.isOdd = true;
      else this.answers = Math.max(this.answers, Number(text));
    } else if (slot === BACKGROUND) this.background = text !== 'false';
    else if (slot === TIER) this.fast ||= text !== null && FAST.has(text);
    // An image in the body itself is paid for by its bytes.
    else if (!(text?.startsWith('"data:') ?? false)) this.refers = true;
  }
}

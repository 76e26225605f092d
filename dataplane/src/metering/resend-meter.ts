import { JsonScanner, type ScanSink } from '../scan/json-scanner.js';
import { compilePaths } from '../scan/scan-paths.js';
import { plainPath } from './estimate.js';
import { type BodyMeter, KNOWN_AT_END, type MeterOptions, type UsageReading } from './meter.js';
import { emptyCounts } from './usage-fields.js';
import { readingOf } from './usage-reader.js';

/** The ids of the e-mails of a batch: `{"data":[{"id":"…"},…]}`. */
const PATHS = compilePaths({ 'data[].id': 0 });
const EMAILS_MAX = 100_000;

/**
 * E-mails sent, the units of resend's per-request price: 1 for POST /emails, the accepted ones for POST /emails/batch
 * (in permissive mode fewer than were asked for). When the answer was cut, as many as were asked for.
 */
export class ResendMeter implements BodyMeter, ScanSink {
  readonly #options: MeterOptions;
  readonly #isBatch: boolean;
  readonly #scanner: JsonScanner | null;
  #emails = 0;

  constructor(options: MeterOptions) {
    this.#options = options;
    this.#isBatch = options.method === 'POST' && plainPath(options.path).endsWith('/emails/batch');
    this.#scanner = this.#isBatch ? new JsonScanner(PATHS, this) : null;
  }

  observe(chunk: Buffer): void {
    this.#scanner?.push(chunk, 0, chunk.length);
  }

  get tokensOutSeen(): number {
    return KNOWN_AT_END;
  }

  /** The units then come from the request. */
  unreadable(): void {}

  value(): void {
    this.#emails++;
  }

  finish(): UsageReading {
    return readingOf(emptyCounts(), 'none', null, { units: this.#units() });
  }

  #units(): number {
    if (this.#scanner !== null) {
      const isWhole = this.#scanner.done;
      const asked = Math.max(1, this.#options.requestItems);
      return Math.min(EMAILS_MAX, isWhole ? this.#emails : Math.max(this.#emails, asked));
    }
    return this.#options.method === 'POST' && plainPath(this.#options.path).endsWith('/emails') ? 1 : 0;
  }
}

import { compileJsonPaths } from '../../scan/json-paths.js';
import { JsonScanner, type JsonScanSink } from '../../scan/json-scanner.js';
import { normalizePath } from '../reading/token-estimates.js';
import { createEmptyCounts } from '../reading/usage-counts.js';
import { type BodyMeter, type MeterOptions, TOKENS_KNOWN_AT_END, type UsageReading } from '../reading/usage-meter.js';
import { createUsageReading } from '../reading/usage-reader.js';

/** The ids of the e-mails of a batch: `{"data":[{"id":"…"},…]}`. */
const PATHS = compileJsonPaths({ 'data[].id': 0 });
const EMAILS_MAX = 100_000;

/**
 * E-mails sent, the units of resend's per-request price: 1 for POST /emails, the accepted ones for POST /emails/batch
 * (in permissive mode fewer than were asked for). When the answer was cut, as many as were asked for.
 */
export class ResendMeter implements BodyMeter, JsonScanSink {
  readonly #options: MeterOptions;
  readonly #isBatch: boolean;
  readonly #scanner: JsonScanner | null;
  #emails = 0;

  constructor(options: MeterOptions) {
    this.#options = options;
    this.#isBatch = options.method === 'POST' && normalizePath(options.path).endsWith('/emails/batch');
    this.#scanner = this.#isBatch ? new JsonScanner(PATHS, this) : null;
  }

  observe(chunk: Buffer): void {
    this.#scanner?.push(chunk, 0, chunk.length);
  }

  get tokensOutSeen(): number {
    return TOKENS_KNOWN_AT_END;
  }

  /** The units then come from the request. */
  skipUndecodable(): void {}

  onValue(): void {
    this.#emails++;
  }

  finish(): UsageReading {
    return createUsageReading(createEmptyCounts(), 'none', null, { units: this.#units() });
  }

  #units(): number {
    if (this.#scanner !== null) {
      const isWhole = this.#scanner.isDone;
      const asked = Math.max(1, this.#options.requestItemCount);
      return Math.min(EMAILS_MAX, isWhole ? this.#emails : Math.max(this.#emails, asked));
    }
    return this.#options.method === 'POST' && normalizePath(this.#options.path).endsWith('/emails') ? 1 : 0;
  }
}

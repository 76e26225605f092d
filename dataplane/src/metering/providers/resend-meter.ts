import { compileJsonPaths } from '../../scan/json-paths.js';
import { JsonScanner, type JsonScanSink } from '../../scan/json-scanner.js';
import { createEmptyCounts } from '../reading/provider-usage-to-token-counts.js';
import {
  type BodyMeter,
  type MeterOptions,
  TOKENS_KNOWN_AT_END,
  type UsageReading,
} from '../reading/response-usage-meter-interface.js';
import { normalizePath } from '../reading/token-estimates.js';
import { createUsageReading } from '../reading/usage-reader-interface.js';

/** Ids of the e-mails of a batch: `{"data":[{"id":"…"},…]}`. */
const PATHS = compileJsonPaths({ 'data[].id': 0 });
const EMAILS_MAX = 100_000;

/**
 * Counts sent e-mails, the units of resend's per-request price. 1 for POST /emails; the accepted ones for POST
 * /emails/batch (in permissive mode fewer than requested). A truncated response counts as many as requested.
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

  /** Does nothing: the units then come from the request. */
  skipUndecodable(): void {}

  onValue(): void {
    this.#emails++;
  }

  finish(): UsageReading {
    return createUsageReading(createEmptyCounts(), 'none', null, { units: this.#units() });
  }

  #units(): number {
    if (this.#scanner !== null) {
      const isComplete = this.#scanner.isDone;
      const requestedCount = Math.max(1, this.#options.requestItemCount);
      return Math.min(EMAILS_MAX, isComplete ? this.#emails : Math.max(this.#emails, requestedCount));
    }
    return this.#options.method === 'POST' && normalizePath(this.#options.path).endsWith('/emails') ? 1 : 0;
  }
}

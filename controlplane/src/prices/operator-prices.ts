/**
 * The operator's prices from PRICES_FILE. The file is read at startup, where an invalid file stops the process, and
 * again on SIGHUP and when it changes. An invalid file then keeps the current prices, logs the reason once, and sets
 * `gateway_prices_file_rejected` to 1 until a valid file is read.
 */
import { readFileSync, type Stats, statSync } from 'node:fs';
import { ConfigError } from '@acg/base/env-reader';
import type { Logger } from '@acg/base/log';
import { type PricedUpstream, PriceList } from '@acg/base/pricing/price-list';
import type { IPriceBook } from '@acg/proto/messages';
import { BackgroundTasks } from '../ops/background-tasks.js';
import type { Metrics } from '../ops/metrics.js';
import type { Catalogue } from '../providers/catalogue/catalogue.js';
import { encodeOperatorPrices } from './encode-operator-prices.js';
import { type FilePrice, InvalidPriceFile, parsePriceFile } from './price-file.js';

const POLL_INTERVAL_MS = 2_000;
/** Room for about 5000 models. */
const FILE_BYTES_MAX = 1_048_576;

export class OperatorPrices {
  /** The prices in force, including those of the file. */
  readonly list = new PriceList(Date.now);
  /** Called when the prices in force have changed. */
  onChange: (priceBook: IPriceBook) => void = () => {};
  readonly #file: string | null;
  readonly #catalogue: Catalogue;
  readonly #log: Logger;
  readonly #background: BackgroundTasks;
  #prices: readonly FilePrice[] = [];
  /** Version of the file that was read last, valid or not. */
  #version = '';
  #text = '';
  #readAtMs: number | null = null;
  #isFileRejected = false;

  /**
   * Throws {@link ConfigError} that describes what is wrong with the file. `file` is null when the operator sets no
   * prices.
   */
  constructor(file: string | null, catalogue: Catalogue, log: Logger, metrics: Metrics) {
    this.#file = file;
    this.#catalogue = catalogue;
    this.#log = log;
    this.#background = new BackgroundTasks(log);
    const isRejected = (): number => Number(this.#isFileRejected);
    metrics.addGauge(
      'gateway_prices_file_rejected',
      '1 while PRICES_FILE has changed and is invalid, so that the previous prices stay in force.',
      isRejected,
    );
    metrics.addGauge('gateway_prices_file_refused', 'Deprecated: gateway_prices_file_rejected.', isRejected);
    metrics.addGauge('gateway_prices_in_file', 'Prices read from PRICES_FILE.', () => this.#prices.length);
    if (file === null) return;
    try {
      this.#apply(this.#read(file));
    } catch (error) {
      throw new ConfigError([`PRICES_FILE: ${(error as Error).message}`]);
    }
  }

  /** The prices of the file, including those that begin later. */
  get prices(): readonly FilePrice[] {
    return this.#prices;
  }

  /** Unix ms of the last read; null without a file. */
  get readAtMs(): number | null {
    return this.#readAtMs;
  }

  /** Builds the price book for a data plane that connects. */
  book(): IPriceBook {
    return encodeOperatorPrices(this.#prices, this.list, (slug) => this.pricedUpstreamOf(slug));
  }

  /** Returns what determines the prices of a provider. For a custom provider only its slug is known here. */
  pricedUpstreamOf(providerSlug: string): PricedUpstream {
    const provider = this.#catalogue.get(providerSlug);
    const usageFormat = provider?.mainUsageFormat ?? 'none';
    return { providerSlug, priceProvider: provider?.priceProvider ?? '', usageFormat, origin: '' };
  }

  /** Starts checking the file for changes periodically. */
  start(): void {
    if (this.#file === null) return;
    this.#background.runEvery('prices file', POLL_INTERVAL_MS, async () => this.#reloadIfChanged(false));
  }

  stop(): Promise<void> {
    return this.#background.stop();
  }

  /** Reads the file again on SIGHUP, even if it looks unchanged. */
  reload(): void {
    this.#reloadIfChanged(true);
  }

  #reloadIfChanged(always: boolean): void {
    const file = this.#file;
    if (file === null) return;
    if (!always && fileVersion(file) === this.#version) return;
    try {
      const text = this.#read(file);
      if (text === this.#text && !always && !this.#isFileRejected) return;
      this.#apply(text);
      this.#log.info({ file, prices: this.#prices.length }, 'PRICES_FILE reloaded');
    } catch (error) {
      this.#isFileRejected = true;
      this.#log.error(
        { file },
        `PRICES_FILE cannot be used: ${(error as Error).message}. The previous prices stay in force. Correct the file.`,
      );
      return;
    }
    this.onChange(this.book());
  }

  #read(file: string): string {
    // Taken before the read, so that a change during the read is detected by the next check.
    this.#version = fileVersion(file);
    const bytes = readFileSync(file);
    if (bytes.length > FILE_BYTES_MAX) throw new InvalidPriceFile(`is longer than ${FILE_BYTES_MAX} bytes`);
    return bytes.toString('utf8');
  }

  #apply(text: string): void {
    const nowMs = Date.now();
    this.#prices = parsePriceFile(text, (slug) => this.pricedUpstreamOf(slug), nowMs);
    this.list.replaceOverrides(this.#prices.map(({ price }) => price));
    this.#text = text;
    this.#readAtMs = nowMs;
    this.#isFileRejected = false;
  }
}

/** Includes the target of the path: Kubernetes replaces a symbolic link when a ConfigMap changes. */
function fileVersion(file: string): string {
  let stats: Stats;
  try {
    stats = statSync(file);
  } catch {
    return 'missing';
  }
  return `${stats.ino} ${stats.size} ${stats.mtimeMs}`;
}

/**
 * The operator's prices from PRICES_FILE. The file is read at the start, where a bad one stops the start, and again when
 * it changes and on SIGHUP. A bad file then leaves the prices in force as they are: one line in the log says what is
 * wrong, and `gateway_prices_file_refused` is 1 until a good file is read.
 */
import { readFileSync, type Stats, statSync } from 'node:fs';
import { ConfigError } from '@acg/base/env-reader';
import type { Logger } from '@acg/base/log';
import { type PricedUpstream, PriceList } from '@acg/base/pricing/price-list';
import type { IPriceBook } from '@acg/proto/messages';
import { BackgroundTasks } from '../ops/background-tasks.js';
import type { Metrics } from '../ops/metrics.js';
import type { Catalogue } from '../providers/catalogue/catalogue.js';
import { buildPriceBook } from './price-book.js';
import { type FilePrice, InvalidPriceFile, parsePriceFile } from './price-file.js';

const POLL_INTERVAL_MS = 2_000;
/** Some 5000 models. */
const FILE_BYTES_MAX = 1_048_576;

export class OperatorPrices {
  /** The prices in force, the file's among them. */
  readonly list = new PriceList(Date.now);
  /** Called when other prices are in force. */
  onChange: (priceBook: IPriceBook) => void = () => {};
  readonly #file: string | null;
  readonly #catalogue: Catalogue;
  readonly #log: Logger;
  readonly #background: BackgroundTasks;
  #prices: readonly FilePrice[] = [];
  /** Of the file that was read last, good or bad. */
  #version = '';
  #text = '';
  #readAtMs: number | null = null;
  #isFileRejected = false;

  /** Throws {@link ConfigError} that says what is wrong with the file. `file` null: no prices of the operator's. */
  constructor(file: string | null, catalogue: Catalogue, log: Logger, metrics: Metrics) {
    this.#file = file;
    this.#catalogue = catalogue;
    this.#log = log;
    this.#background = new BackgroundTasks(log);
    metrics.addGauge(
      'gateway_prices_file_refused',
      '1: PRICES_FILE has been changed and cannot be used, so the prices of before are in force.',
      () => Number(this.#isFileRejected),
    );
    metrics.addGauge('gateway_prices_in_file', 'Prices of PRICES_FILE that have been read.', () => this.#prices.length);
    if (file === null) return;
    try {
      this.#apply(this.#read(file));
    } catch (error) {
      throw new ConfigError([`PRICES_FILE: ${(error as Error).message}`]);
    }
  }

  /** The prices of the file; those that begin later, too. */
  get prices(): readonly FilePrice[] {
    return this.#prices;
  }

  /** Unix ms; null: there is no file. */
  get readAtMs(): number | null {
    return this.#readAtMs;
  }

  /** For a data plane that connects. */
  book(): IPriceBook {
    return buildPriceBook(this.#prices, this.list, (slug) => this.pricedUpstreamOf(slug));
  }

  /** What decides the prices of a provider; of a custom one as far as its slug says. */
  pricedUpstreamOf(providerSlug: string): PricedUpstream {
    const { priceProvider = '', usageFormat = 'none' } = this.#catalogue.get(providerSlug) ?? {};
    return { providerSlug, priceProvider, usageFormat, origin: '' };
  }

  /** Looks at the file again and again. */
  start(): void {
    if (this.#file === null) return;
    this.#background.runEvery('prices file', POLL_INTERVAL_MS, async () => this.#reloadIfChanged(false));
  }

  stop(): Promise<void> {
    return this.#background.stop();
  }

  /** SIGHUP: reads the file whether or not it looks changed. */
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
      this.#log.info({ file, prices: this.#prices.length }, 'PRICES_FILE read again');
    } catch (error) {
      this.#isFileRejected = true;
      this.#log.error(
        { file },
        `PRICES_FILE cannot be used: ${(error as Error).message}. The prices of before stay in force. Correct the file.`,
      );
      return;
    }
    this.onChange(this.book());
  }

  #read(file: string): string {
    // Before it is read: a change while it is read is seen at the next look.
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

/** Also of what the path leads to: Kubernetes replaces a link when a ConfigMap changes. */
function fileVersion(file: string): string {
  let stats: Stats;
  try {
    stats = statSync(file);
  } catch {
    return 'missing';
  }
  return `${stats.ino} ${stats.size} ${stats.mtimeMs}`;
}

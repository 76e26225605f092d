/**
 * Parses PRICES_FILE (docs/configuration.md#prices): prices by provider slug and model. A file with any ambiguous entry
 * is rejected as a whole; the error names the line. Pure.
 */

import { foldMcpName } from '@acg/base/policy/fold-mcp-name';
import { findListedPlan, type PricedUpstream } from '@acg/base/pricing/price-list';
import { type OverrideBand, type PriceOverride, toolPriceProvider } from '@acg/base/pricing/price-override';
import { indexJsonLines, type JsonPath } from './json-line-index.js';
import { ERRORS_FIELD, IMAGE_FIELD, RATE_FIELDS, REQUEST_FIELD, TIER_FIELDS, UNIT_FIELDS } from './price-fields.js';

/** One price of the file. */
export interface FilePrice {
  readonly price: PriceOverride;
  /** Line of the entry; 1 is the first line of the file. */
  readonly line: number;
  /** Names of the fields that the entry sets. */
  readonly fields: readonly string[];
}

/** Describes what is wrong with the file and in which line. */
export class InvalidPriceFile extends Error {
  override readonly name = 'PriceFileProblem';
}

/** Looks up what determines the prices of a provider by its slug alone. */
type UpstreamOf = (providerSlug: string) => PricedUpstream;

const SLUG = /^[a-z0-9-]{2,40}$/;
/** `mcp/<slug>/<tool>`; a tool's name may have slashes. */
const TOOL = /^mcp\/([a-z0-9-]{2,40})\/(.+)$/s;
const MODEL_CHARS_MAX = 256;
const IMAGE_KINDS_MAX = 50;
const BANDS_MAX = 8;
const TOKENS_MAX = 100_000_000;
/** Depth of model names in a path. */
const MODEL_DEPTH = 2;
const DAY = /^\d{4}-\d{2}-\d{2}$/;

type Fields = Readonly<Record<string, unknown>>;

/**
 * Throws {@link InvalidPriceFile}. `nowMs` is Unix ms: each model must have a list price at that time or state all
 * prices.
 */
export function parsePriceFile(text: string, upstreamOf: UpstreamOf, nowMs: number): FilePrice[] {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch (error) {
    throw new InvalidPriceFile((error as Error).message);
  }
  return new PriceFileParser(text, upstreamOf, nowMs).read(document);
}

class PriceFileParser {
  readonly #lines: ReturnType<typeof indexJsonLines>;

  constructor(
    text: string,
    readonly upstreamOf: UpstreamOf,
    readonly nowMs: number,
  ) {
    this.#lines = indexJsonLines(text);
  }

  read(document: unknown): FilePrice[] {
    if (!isObject(document))
      throw new InvalidPriceFile('must hold a JSON object such as {"resend":{"perRequestUsd":0.0004}}');
    const { repeated } = this.#lines;
    if (repeated !== null)
      throw new InvalidPriceFile(`line ${repeated.line}: ${quote(repeated.name)} stands there twice`);
    this.#eachToolOnce(Object.keys(document));
    return Object.entries(document).flatMap(([name, entry]) => {
      const tool = TOOL.exec(name);
      return tool === null ? this.#provider(name, entry) : this.#tool(name, tool[1]!, tool[2]!, entry);
    });
  }

  #provider(provider: string, entry: unknown): FilePrice[] {
    const at = [provider];
    if (!SLUG.test(provider)) throw this.#wrong(at, 'is no provider slug and no tool (mcp/<slug>/<tool>)');
    if (!isObject(entry)) throw this.#wrong(at, 'must be an object with perRequestUsd or models');
    this.#onlyFields(at, entry, [REQUEST_FIELD.field, 'models']);
    const { models = {} } = entry;
    if (!isObject(models)) throw this.#wrong([...at, 'models'], 'must be an object of models');
    const prices = Object.entries(models).flatMap(([model, price]) => this.#model(provider, model, price));
    if (entry[REQUEST_FIELD.field] === undefined) return prices;
    const perRequestNanos = this.#amount(at, entry, REQUEST_FIELD);
    const line = this.#lines.lineOf([...at, REQUEST_FIELD.field]);
    return [{ price: { provider, model: '', perRequestNanos }, line, fields: [REQUEST_FIELD.field] }, ...prices];
  }

  /** Names of tools that differ only in case are one tool. */
  #eachToolOnce(names: readonly string[]): void {
    const seen = new Set<string>();
    for (const name of names) {
      const folded = foldMcpName(name);
      if (TOOL.test(name) && seen.has(folded)) throw this.#wrong([name], 'is the same tool as another entry');
      seen.add(folded);
    }
  }

  /** Parses the price of a tool of an MCP server. */
  #tool(name: string, slug: string, tool: string, entry: unknown): FilePrice[] {
    if (tool.length > MODEL_CHARS_MAX) throw this.#wrong([name], 'is no tool name');
    const readOne = (at: JsonPath, one: unknown): FilePrice => {
      if (!isObject(one) || one[REQUEST_FIELD.field] === undefined)
        throw this.#wrong(at, `must be an object with ${REQUEST_FIELD.field}`);
      this.#onlyFields(at, one, ['from', REQUEST_FIELD.field, ERRORS_FIELD]);
      const chargesErrors = one[ERRORS_FIELD] ?? false;
      if (typeof chargesErrors !== 'boolean') throw this.#wrong([...at, ERRORS_FIELD], 'must be true or false');
      const price: PriceOverride = {
        provider: toolPriceProvider(slug),
        model: tool,
        fromMs: one.from === undefined ? 0 : this.#day([...at, 'from'], one.from),
        perRequestNanos: this.#amount(at, one, REQUEST_FIELD),
        chargesErrors,
      };
      return { price, line: this.#lines.lineOf(at), fields: Object.keys(one).filter((field) => field !== 'from') };
    };
    if (!Array.isArray(entry)) return [readOne([name], entry)];
    return this.#eachFromAnotherDay(
      [name],
      entry.map((one, index) => readOne([name, index], one)),
    );
  }

  #eachFromAnotherDay(at: JsonPath, prices: FilePrice[]): FilePrice[] {
    const days = new Set(prices.map(({ price }) => price.fromMs));
    if (prices.length === 0) throw this.#wrong(at, 'must name a price');
    if (days.size < prices.length) throw this.#wrong(at, 'has two prices from the same day on');
    return prices;
  }

  /** Parses one price, or a list of prices with their start days. */
  #model(provider: string, model: string, entry: unknown): FilePrice[] {
    const at = [provider, 'models', model];
    if (model === '' || model.length > MODEL_CHARS_MAX) throw this.#wrong(at, 'is no model name');
    if (!Array.isArray(entry)) return [this.#price(provider, model, at, entry)];
    const prices = entry.map((price, index) => this.#price(provider, model, [...at, index], price));
    return this.#eachFromAnotherDay(at, prices);
  }

  #price(provider: string, model: string, at: JsonPath, entry: unknown): FilePrice {
    if (!isObject(entry)) throw this.#wrong(at, 'must be an object with prices such as inputPerMTok');
    const named = [...RATE_FIELDS, ...UNIT_FIELDS, ...TIER_FIELDS, REQUEST_FIELD, IMAGE_FIELD].map(
      ({ field }) => field,
    );
    this.#onlyFields(at, entry, ['from', 'bands', ...named]);
    const fields = Object.keys(entry).filter((field) => field !== 'from');
    if (fields.length === 0) throw this.#wrong(at, 'must name a price such as inputPerMTok');
    const rates = this.#table(at, entry, RATE_FIELDS);
    const tiers = this.#table(at, entry, TIER_FIELDS);
    const isOfTokens = Object.keys(rates).length + Object.keys(tiers).length > 0 || entry.bands !== undefined;
    if (isOfTokens && (rates.input === undefined || rates.output === undefined) && !this.#isListed(provider, model)) {
      throw this.#wrong(at, 'is in no price list: name inputPerMTok and outputPerMTok');
    }
    const price: PriceOverride = {
      provider,
      model,
      fromMs: entry.from === undefined ? 0 : this.#day([...at, 'from'], entry.from),
      rates,
      tiers,
      ...this.#table(at, entry, UNIT_FIELDS),
      ...(entry.bands === undefined ? {} : { bands: { bands: this.#bands([...at, 'bands'], entry.bands) } }),
      ...(entry[IMAGE_FIELD.field] === undefined ? {} : { images: this.#images(at, entry[IMAGE_FIELD.field]) }),
      ...(entry[REQUEST_FIELD.field] === undefined ? {} : { perRequestNanos: this.#amount(at, entry, REQUEST_FIELD) }),
    };
    return { price, line: this.#lines.lineOf(at), fields };
  }

  #isListed(provider: string, model: string): boolean {
    return model !== '*' && findListedPlan(this.upstreamOf(provider), model, this.nowMs) !== null;
  }

  #table<Name extends string>(
    at: JsonPath,
    entry: Fields,
    table: readonly { readonly field: string; readonly name: Name; readonly scale: number; readonly max: number }[],
  ): { [Key in Name]?: number } {
    const named: { [Key in Name]?: number } = {};
    for (const row of table) if (entry[row.field] !== undefined) named[row.name] = this.#amount(at, entry, row);
    return named;
  }

  #bands(at: JsonPath, bands: unknown): OverrideBand[] {
    if (!Array.isArray(bands) || bands.length > BANDS_MAX)
      throw this.#wrong(at, `must be a list of at most ${BANDS_MAX} bands`);
    const borders = new Set<number>();
    return bands.map((band: unknown, index) => {
      const here = [...at, index];
      if (!isObject(band)) throw this.#wrong(here, 'must be an object with aboveTokensIn and prices');
      this.#onlyFields(here, band, ['aboveTokensIn', ...RATE_FIELDS.map(({ field }) => field)]);
      const { aboveTokensIn } = band;
      if (!Number.isInteger(aboveTokensIn) || (aboveTokensIn as number) < 1 || (aboveTokensIn as number) > TOKENS_MAX) {
        throw this.#wrong([...here, 'aboveTokensIn'], `must be a whole number from 1 to ${TOKENS_MAX}`);
      }
      if (borders.has(aboveTokensIn as number)) throw this.#wrong(here, 'begins where another band begins');
      borders.add(aboveTokensIn as number);
      return { aboveTokensIn: aboveTokensIn as number, rates: this.#table(here, band, RATE_FIELDS) };
    });
  }

  #images(at: JsonPath, prices: unknown): { kind: string; pico: number }[] {
    const here = [...at, IMAGE_FIELD.field];
    const kinds = isObject(prices) ? Object.keys(prices) : [];
    if (!isObject(prices) || kinds.length === 0 || kinds.length > IMAGE_KINDS_MAX) {
      throw this.#wrong(here, 'must be an object of prices by size such as {"1024x1024":0.04,"hd 1024x1024":0.08}');
    }
    return kinds.map((kind) => ({ kind, pico: this.#amount(here, prices, { ...IMAGE_FIELD, field: kind }) }));
  }

  /** Returns Unix ms of midnight UTC. */
  #day(at: JsonPath, day: unknown): number {
    const ms = typeof day === 'string' && DAY.test(day) ? Date.parse(day) : Number.NaN;
    // `Date.parse` would read 2026-02-30 as the second of March.
    if (Number.isNaN(ms) || ms <= 0 || new Date(ms).toISOString().slice(0, 10) !== day) {
      throw this.#wrong(at, 'must be a day (UTC) such as "2026-12-01"');
    }
    return ms;
  }

  /** Converts an amount to whole units of the plan. */
  #amount(at: JsonPath, entry: Fields, { field, scale, max }: { field: string; scale: number; max: number }): number {
    const here = [...at, field];
    const value = entry[field];
    if (typeof value !== 'number' || !(value >= 0) || value > max) {
      throw this.#wrong(here, `must be a number from 0 to ${max}`);
    }
    const units = Math.round(value * scale);
    if (scale === 1 && units !== value) throw this.#wrong(here, 'must be a whole number');
    if (units === 0 && value > 0) throw this.#wrong(here, `is smaller than can be counted (${1 / scale})`);
    return units;
  }

  #onlyFields(at: JsonPath, entry: Fields, known: readonly string[]): void {
    const other = Object.keys(entry).find((field) => !known.includes(field));
    if (other === undefined) return;
    throw this.#wrong([...at, other], `is no field that is known here; known are ${known.join(', ')}`);
  }

  #wrong(at: JsonPath, problem: string): InvalidPriceFile {
    const path = at.map((step, depth) => {
      if (depth === MODEL_DEPTH || typeof step === 'number') return `[${quote(step)}]`;
      return depth === 0 ? step : `.${step}`;
    });
    return new InvalidPriceFile(`line ${this.#lines.lineOf(at)}: ${path.join('')} ${problem}`);
  }
}

const quote = (value: unknown): string => JSON.stringify(value);

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

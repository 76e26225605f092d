/**
 * Compares booked usage with a provider's report, per hour (or day), key and model. Pure.
 *
 * Providers report tokens per hour but costs per day, so a day's cost is spread over its hours by tokens. Each
 * difference gets one cause: calls that the gateway did not make, calls of keys that look alike, billed calls that failed
 * at the gateway, usage that was not billed, and another price. Tokens of a day without final costs are valued at the list price.
 */
import { DAY_MS } from '@acg/base/time-and-money-units';
import {
  addTokens,
  canonicalModel,
  mapClasses,
  type ProviderReport,
  type ReportedUsage,
  sumTokens,
  TOKEN_CLASSES,
  type TokenClass,
  type TokenCounts,
} from './report/provider-report.js';

/** What the ledger booked for one bucket, key and model. `tokens.cacheWrite` includes writes for 1 hour. */
export interface BookedLine {
  readonly startMs: number;
  readonly keyLabel: string;
  /** False: the records belong to an account whose key the provider does not list. */
  readonly isHeld: boolean;
  readonly model: string;
  /** Calls with tokens or cost. */
  readonly requests: number;
  /** Calls sent without a usable response, which the provider may have billed. */
  readonly failed: number;
  readonly tokens: TokenCounts;
  readonly nanos: number;
}

export const LINE_STATES = ['match', 'pending', 'drift', 'unbilled', 'ambiguous', 'unattributed'] as const;
/** From the least to the most urgent. */
export type LineState = (typeof LINE_STATES)[number];

/** Amounts in nano-dollars. `theirNanos - ourNanos` is the sum of the five causes. */
export interface ReconciledLine {
  readonly startMs: number;
  readonly keyLabel: string;
  readonly isHeld: boolean;
  readonly model: string;
  readonly ourRequests: number;
  readonly ourTokens: number;
  readonly ourNanos: number;
  readonly theirRequests: number | null;
  readonly theirTokens: number;
  readonly theirNanos: number;
  readonly failureNanos: number;
  readonly unattributedNanos: number;
  /** As `unattributedNanos`, of a key whose label another key has, too: one of both. */
  readonly ambiguousNanos: number;
  /** Negative or 0. */
  readonly unbilledNanos: number;
  readonly priceNanos: number;
  readonly state: LineState;
}

/** A price of a settled day that differs from the list. */
export interface PriceDrift {
  readonly dayMs: number;
  readonly model: string;
  readonly tokenClass: TokenClass;
  /** Nano-dollars per token. */
  readonly ours: number;
  readonly theirs: number;
}

/** Nano-dollars per token of the price list; null: the model has no price. */
export type ListPrices = (model: string) => TokenCounts | null;

export interface ReconcileInput {
  readonly booked: readonly BookedLine[];
  readonly report: ProviderReport;
  /** Labels of keys that accounts of the organization hold or held. */
  readonly heldLabels: ReadonlySet<string>;
  /** Held labels that other keys of the provider have, too. */
  readonly ambiguousLabels: ReadonlySet<string>;
  readonly listPrices: ListPrices;
  /** Days that end at or before this time have final costs, and hours final usage. Unix ms. */
  readonly settledBeforeMs: number;
}

/** Below: rounding. Nano-dollars per line, and one more per call. */
const LINE_TOLERANCE_NANOS = 1_000;
/** A day's cost at another price: at least a hundredth of a cent, and a thousandth of the cost. */
const DRIFT_NANOS_MIN = 100_000;
const DRIFT_RATIO_MIN = 0.001;
/** Unit prices of a report are quotients of rounded amounts. */
const UNIT_PRICE_TOLERANCE = 0.005;
/** Such as usage of the provider's own console. */
const NO_KEY = '(no key)';
const NO_TOKENS = mapClasses(() => 0);

interface Cell {
  readonly startMs: number;
  readonly keyLabel: string;
  readonly isHeld: boolean;
  readonly model: string;
  ourRequests: number;
  failed: number;
  ourTokens: TokenCounts;
  ourNanos: number;
  theirRequests: number | null;
  theirTokens: TokenCounts;
  /** Cost that the provider states for exactly this cell; null: only per day. */
  directNanos: number | null;
}

export function reconcile(input: ReconcileInput): { lines: readonly ReconciledLine[]; drifts: readonly PriceDrift[] } {
  const { cells, failedWithoutModel } = collectCells(input);
  const lines: ReconciledLine[] = [];
  const drifts: PriceDrift[] = [];
  const tokenCosts = input.report.costs.filter(({ tokenClass }) => tokenClass !== null);
  const costsOf = groupBy(tokenCosts, ({ dayMs, model }) => `${dayMs}\n${canonicalModel(model)}`);
  for (const group of groupBy(cells, ({ startMs, model }) => `${dayOf(startMs)}\n${model}`).values()) {
    const compared = compareDayOfModel(group, failedWithoutModel, costsOf, input);
    lines.push(...compared.lines);
    drifts.push(...compared.drifts);
  }
  lines.push(...feeLines(input, cells));
  return { lines, drifts };
}

const dayOf = (ms: number): number => ms - (ms % DAY_MS);

function groupBy<Item>(items: Iterable<Item>, keyOf: (item: Item) => string): ReadonlyMap<string, readonly Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}

function collectCells({ booked, report, heldLabels }: ReconcileInput) {
  const cells = new Map<string, Cell>();
  /** Failed calls whose model is unknown, by bucket and key. */
  const failedWithoutModel = new Map<string, number>();
  const cellOf = (startMs: number, keyLabel: string, isHeld: boolean, model: string): Cell => {
    const id = `${startMs}\n${keyLabel}\n${model}`;
    let cell = cells.get(id);
    if (cell === undefined) {
      cell = {
        startMs,
        keyLabel,
        isHeld,
        model,
        ourRequests: 0,
        failed: 0,
        ourTokens: NO_TOKENS,
        ourNanos: 0,
        theirRequests: null,
        theirTokens: NO_TOKENS,
        directNanos: null,
      };
      cells.set(id, cell);
    }
    return cell;
  };
  for (const line of booked) {
    if (line.model === '' && line.nanos === 0) {
      const pool = poolOf(line);
      failedWithoutModel.set(pool, (failedWithoutModel.get(pool) ?? 0) + line.failed);
      continue;
    }
    const cell = cellOf(line.startMs, line.keyLabel, line.isHeld, canonicalModel(line.model));
    cell.ourRequests += line.requests;
    cell.failed += line.failed;
    cell.ourTokens = addTokens(cell.ourTokens, line.tokens);
    cell.ourNanos += line.nanos;
  }
  const labels = new Map(report.keys.map(({ id, label }) => [id, label]));
  for (const row of report.usage) {
    const label = labels.get(row.keyId) ?? (row.keyId === '' ? NO_KEY : row.keyId);
    addReported(cellOf(row.startMs, label, heldLabels.has(label), canonicalModel(row.model)), row);
  }
  return { cells: [...cells.values()], failedWithoutModel };
}

const poolOf = ({ startMs, keyLabel }: Pick<Cell, 'startMs' | 'keyLabel'>): string => `${startMs}\n${keyLabel}`;

function addReported(cell: Cell, row: ReportedUsage): void {
  if (row.requests !== null) cell.theirRequests = (cell.theirRequests ?? 0) + row.requests;
  cell.theirTokens = addTokens(cell.theirTokens, row.tokens);
  if (row.costNanos !== null) cell.directNanos = (cell.directNanos ?? 0) + row.costNanos;
}

/** Compares all hours and keys of one model on one UTC day. */
function compareDayOfModel(
  cells: readonly Cell[],
  failedWithoutModel: Map<string, number>,
  costsOf: ReadonlyMap<string, ProviderReport['costs']>,
  { ambiguousLabels, listPrices, settledBeforeMs }: ReconcileInput,
): { lines: readonly ReconciledLine[]; drifts: readonly PriceDrift[] } {
  const { model } = cells[0]!;
  const dayMs = dayOf(cells[0]!.startMs);
  const isSettled = dayMs + DAY_MS <= settledBeforeMs;
  const list = listPrices(model);
  const tokens = cells.reduce((sum, cell) => addTokens(sum, cell.theirTokens), NO_TOKENS);
  const direct = cells.some(({ directNanos }) => directNanos !== null);
  const costs = costsOf.get(`${dayMs}\n${model}`) ?? [];
  const fallback = list ?? averagePrices(cells);
  const unit = isSettled ? unitPrices(cells, tokens, costs, fallback, direct) : fallback;
  const values = cells.map((cell) => {
    // All of a cost that is stated for this key, where the gateway has booked nothing: tokens may not explain it.
    const isForeign = cell.ourRequests === 0 && cell.ourNanos === 0;
    const volume = isForeign && cell.directNanos !== null ? cell.directNanos : volumeNanos(cell, unit, tokens);
    const theirs = isSettled ? (cell.directNanos ?? costOf(cell.theirTokens, unit)) : cell.ourNanos + volume;
    return { cell, volume, theirs };
  });
  const total = values.reduce((sum, { theirs }) => sum + theirs, 0);
  const residual = values.reduce((sum, { cell, volume, theirs }) => sum + theirs - cell.ourNanos - volume, 0);
  const isDrift = Math.abs(residual) > Math.max(DRIFT_NANOS_MIN, DRIFT_RATIO_MIN * total);
  const lines = values.map(({ cell, volume, theirs }) => {
    const theirNanos = Math.round(isDrift ? theirs : cell.ourNanos + volume);
    const isAmbiguous = ambiguousLabels.has(cell.keyLabel);
    return toLine(cell, theirNanos, Math.round(volume), unit, failedWithoutModel, isAmbiguous, settledBeforeMs);
  });
  const drifts = isDrift && list !== null && isSettled ? listDrifts(dayMs, model, tokens, unit, list) : [];
  return { lines, drifts };
}

/** Nano-dollars per token that the provider charged on that day; of classes without tokens the fallback. */
function unitPrices(
  cells: readonly Cell[],
  tokens: TokenCounts,
  costs: ProviderReport['costs'],
  fallback: TokenCounts,
  direct: boolean,
): TokenCounts {
  if (direct) {
    const cost = cells.reduce((sum, { directNanos }) => sum + (directNanos ?? 0), 0);
    const listed = costOf(tokens, fallback);
    if (listed > 0) return mapClasses((name) => (fallback[name] * cost) / listed);
    const count = sumTokens(tokens); // no price is known: each token costs the same
    return mapClasses(() => (count === 0 ? 0 : cost / count));
  }
  return mapClasses((name) => {
    if (tokens[name] === 0) return fallback[name];
    const nanos = costs.reduce((sum, cost) => sum + (cost.tokenClass === name ? cost.nanos : 0), 0);
    return nanos / tokens[name];
  });
}

/** For a model without a list price: what a token cost on average in the ledger. */
function averagePrices(cells: readonly Cell[]): TokenCounts {
  const nanos = cells.reduce((sum, { ourNanos }) => sum + ourNanos, 0);
  const count = cells.reduce((sum, { ourTokens }) => sum + sumTokens(ourTokens), 0);
  return mapClasses(() => (count === 0 ? 0 : nanos / count));
}

const costOf = (tokens: TokenCounts, unit: TokenCounts): number =>
  TOKEN_CLASSES.reduce((sum, name) => sum + tokens[name] * unit[name], 0);

/** The value of the tokens that the provider counted beyond ours; negative where it counted fewer. */
function volumeNanos({ ourTokens, theirTokens }: Cell, unit: TokenCounts, dayTokens: TokenCounts): number {
  // The ledger does not split cache writes by lifetime: values them at the day's mixture.
  const written = dayTokens.cacheWrite + dayTokens.cacheWrite1h;
  const writeUnit =
    written === 0
      ? unit.cacheWrite
      : (dayTokens.cacheWrite * unit.cacheWrite + dayTokens.cacheWrite1h * unit.cacheWrite1h) / written;
  const writes = theirTokens.cacheWrite + theirTokens.cacheWrite1h - ourTokens.cacheWrite;
  return (
    (theirTokens.input - ourTokens.input) * unit.input +
    (theirTokens.cacheRead - ourTokens.cacheRead) * unit.cacheRead +
    (theirTokens.output - ourTokens.output) * unit.output +
    writes * writeUnit
  );
}

function toLine(
  cell: Cell,
  theirNanos: number,
  volume: number,
  unit: TokenCounts,
  failedWithoutModel: Map<string, number>,
  isAmbiguous: boolean,
  settledBeforeMs: number,
): ReconciledLine {
  const { startMs, keyLabel, isHeld, model, ourRequests, ourNanos, theirRequests } = cell;
  const tolerance = LINE_TOLERANCE_NANOS + ourRequests;
  const excess = volume > tolerance ? volume : 0;
  const unbilledNanos = volume < -tolerance ? volume : 0;
  const ambiguousNanos = isAmbiguous ? excess : 0;
  const failureNanos =
    excess === 0 || isAmbiguous ? 0 : Math.min(excess, failureShare(cell, excess, unit, failedWithoutModel, tolerance));
  const unattributedNanos = excess - failureNanos - ambiguousNanos;
  const priceNanos = theirNanos - ourNanos - excess - unbilledNanos;
  // The most urgent cause is the last one.
  let state: LineState = failureNanos > 0 || Math.abs(priceNanos) > tolerance ? 'drift' : 'match';
  if (unbilledNanos < 0) state = startMs >= settledBeforeMs ? 'pending' : 'unbilled';
  if (ambiguousNanos > 0) state = 'ambiguous';
  if (unattributedNanos > 0) state = 'unattributed';
  return {
    startMs,
    keyLabel,
    isHeld,
    model,
    ourRequests,
    ourTokens: sumTokens(cell.ourTokens),
    ourNanos,
    theirRequests,
    theirTokens: sumTokens(cell.theirTokens),
    theirNanos,
    failureNanos,
    unattributedNanos,
    ambiguousNanos,
    unbilledNanos,
    priceNanos,
    state,
  };
}

/**
 * The part of the excess that failed calls explain. Where other calls explain a part of it, too, a failed call is valued
 * at the mean of the line's calls.
 */
function failureShare(
  cell: Cell,
  excess: number,
  unit: TokenCounts,
  failedWithoutModel: Map<string, number>,
  tolerance: number,
): number {
  const { ourRequests, ourTokens, theirRequests, theirTokens, failed } = cell;
  const pool = poolOf(cell);
  const spare = failedWithoutModel.get(pool) ?? 0;
  const further = theirRequests === null ? null : theirRequests - ourRequests;
  // The same calls with more tokens: the gateway lost the end of a response.
  if (further !== null && further <= 0 && ourRequests > 0) return excess;
  const candidates = failed + spare;
  const count = further === null ? candidates : Math.min(candidates, further);
  if (count === 0) return 0;
  if (further !== null) {
    failedWithoutModel.set(pool, spare - Math.max(0, count - failed));
    if (count === further) return excess;
  }
  const mean =
    ourRequests > 0 ? costOf(ourTokens, unit) / ourRequests : costOf(theirTokens, unit) / (theirRequests ?? count);
  const share = Math.min(excess, Math.round(mean * count));
  return excess - share <= tolerance ? excess : share;
}

function listDrifts(
  dayMs: number,
  model: string,
  tokens: TokenCounts,
  unit: TokenCounts,
  list: TokenCounts,
): PriceDrift[] {
  return TOKEN_CLASSES.flatMap((tokenClass): PriceDrift[] => {
    const [ours, theirs] = [list[tokenClass], unit[tokenClass]];
    const differs = Math.abs(theirs - ours) > UNIT_PRICE_TOLERANCE * Math.max(ours, theirs);
    // A credit makes a price negative, which no entry of PRICES_FILE can state.
    return tokens[tokenClass] > 0 && differs && theirs >= 0 ? [{ dayMs, model, tokenClass, ours, theirs }] : [];
  });
}

/** Costs of settled days without tokens: fees of tools, and classes that the usage report lacks. */
function feeLines({ report, settledBeforeMs }: ReconcileInput, cells: readonly Cell[]): ReconciledLine[] {
  const classesOf = ({ startMs, model, theirTokens }: Cell) =>
    TOKEN_CLASSES.filter((name) => theirTokens[name] > 0).map((name) => `${dayOf(startMs)}\n${model}\n${name}`);
  const used = new Set(cells.flatMap(classesOf));
  const fees = report.costs.filter(
    ({ dayMs, model, tokenClass, nanos }) =>
      nanos !== 0 &&
      dayMs + DAY_MS <= settledBeforeMs &&
      !used.has(`${dayMs}\n${canonicalModel(model)}\n${tokenClass}`),
  );
  return [...groupBy(fees, ({ dayMs, model }) => `${dayMs}\n${model}`).values()].map((group) => {
    const nanos = group.reduce((sum, fee) => sum + fee.nanos, 0);
    return {
      startMs: group[0]!.dayMs,
      keyLabel: '',
      isHeld: true,
      model: `${group[0]!.model} (fee)`,
      ourRequests: 0,
      ourTokens: 0,
      ourNanos: 0,
      theirRequests: null,
      theirTokens: 0,
      theirNanos: nanos,
      failureNanos: 0,
      unattributedNanos: 0,
      ambiguousNanos: 0,
      unbilledNanos: 0,
      priceNanos: nanos,
      state: 'drift',
    };
  });
}

/**
 * Converts a provider's usage object to disjoint token counts (docs/contract.md#usage). The object is untrusted: every
 * figure is checked. A usage object with impossible main figures counts as no usage.
 */
import { asJsonObject, type JsonObject } from '../../scan/parse-json-text.js';
import type { GeneratedImages } from './response-usage-meter-interface.js';

/** Mutable counterpart of TokenCounts plus the parts that have separate prices. All numbers are integers ≥ 0. */
export interface UsageCounts {
  inUncached: number;
  cacheRead: number;
  cacheWrite: number;
  /** Part of `cacheWrite` with a lifetime of 1 h. */
  cacheWrite1h: number;
  out: number;
  /** Parts of `out`. */
  reasoning: number;
  audioOut: number;
  imageOut: number;
  videoOut: number;
  citations: number;
  /** Parts of `inUncached`. */
  audioIn: number;
  imageIn: number;
  videoIn: number;
  /** Part of `cacheRead`. */
  cacheReadAudio: number;
  /** Transcription billed by time, seconds. */
  audioSeconds: number;
  /** Searches billed one by one; for a ranking its search units. */
  webSearches: number;
  /** Pages of documents that are billed by the page. */
  pages: number;
  /** Calls of hosted tools billed per call, and code interpreter containers billed per container. */
  fileSearches: number;
  containers: number;
  /** Responses in which Anthropic's code execution ran at its own price. */
  codeSessions: number;
  generatedImages: GeneratedImages | null;
  videoSeconds: number;
  /** The video has the larger size, which costs more. */
  largeVideo: boolean;
  characters: number;
  images: number;
  imageKind: string;
  /** Tokens that are billed, too, of Anthropic's steps that its totals leave out; null: none. */
  outsideTotals: Readonly<Record<(typeof STEP_FIGURES)[number], number>> | null;
}

/** Figures of a step that are added to the totals. */
export const STEP_FIGURES = ['inUncached', 'cacheRead', 'cacheWrite', 'cacheWrite1h', 'out', 'reasoning'] as const;

/** Far above any context window. A larger figure is an error or an attack and is not billed. */
export const TOKENS_MAX = 100_000_000;
export const SEARCHES_MAX = 1_000;

export const createEmptyCounts = (): UsageCounts => ({
  inUncached: 0,
  cacheRead: 0,
  cacheWrite: 0,
  cacheWrite1h: 0,
  out: 0,
  reasoning: 0,
  audioOut: 0,
  imageOut: 0,
  videoOut: 0,
  citations: 0,
  audioIn: 0,
  imageIn: 0,
  videoIn: 0,
  cacheReadAudio: 0,
  audioSeconds: 0,
  webSearches: 0,
  pages: 0,
  fileSearches: 0,
  containers: 0,
  codeSessions: 0,
  generatedImages: null,
  videoSeconds: 0,
  largeVideo: false,
  characters: 0,
  images: 0,
  imageKind: '',
  outsideTotals: null,
});

/** Returns an integer in 0 … TOKENS_MAX (fractions are truncated), or null for any other value. */
export function parseCount(value: unknown): number | null {
  return typeof value === 'number' && value >= 0 && value <= TOKENS_MAX ? Math.floor(value) : null;
}

/** Whether a main figure is given that no model could produce. Its usage object counts as none, because 0 would be free. */
export const isImpossibleCount = (value: unknown): boolean =>
  value !== undefined && value !== null && parseCount(value) === null;

/** Parses a part of `whole`: 0 when missing or invalid, at most `whole`. */
export function parsePart(value: unknown, whole: number): number {
  return Math.min(parseCount(value) ?? 0, whole);
}

/**
 * Parses OpenAI's usage variants: chat and completions (`prompt_tokens`), responses, images and transcriptions
 * (`input_tokens`), embeddings (no output), whisper (`seconds`). Cached tokens are part of the input figure.
 *
 * Vendors with the same format: a total above input and output contains reasoning (xAI, Gemini). Perplexity reports
 * citations and reasoning beside the output. Mistral bills what its connectors read as input.
 */
export function parseOpenAiUsage(usage: JsonObject): UsageCounts | null {
  const counts = createEmptyCounts();
  const seconds = usage.seconds;
  if (typeof seconds === 'number' && seconds >= 0 && seconds <= TOKENS_MAX) counts.audioSeconds = Math.ceil(seconds);
  const total = parseCount(usage.total_tokens);
  const figureOut = usage.completion_tokens ?? usage.output_tokens;
  const figureIn = usage.prompt_tokens ?? usage.input_tokens;
  if (isImpossibleCount(figureOut) || isImpossibleCount(figureIn)) return null;
  const reportedOut = parseCount(figureOut);
  const reportedIn = parseCount(figureIn);
  if (reportedIn === null && reportedOut === null && total === null) return counts.audioSeconds > 0 ? counts : null;
  const connectorTokens = parseCount(usage.connector_tokens) ?? 0;
  const tokensIn = connectorTokens + (reportedIn ?? Math.max(0, (total ?? 0) - (reportedOut ?? 0)));
  counts.citations = parseCount(usage.citation_tokens) ?? 0;
  const isResearch = usage.citation_tokens !== undefined || usage.num_search_queries !== undefined;
  const ownReasoning = isResearch ? (parseCount(usage.reasoning_tokens) ?? 0) : 0;
  counts.out = Math.max((reportedOut ?? 0) + counts.citations + ownReasoning, (total ?? 0) - tokensIn);
  const inDetails = asJsonObject(
    usage.prompt_tokens_details ?? usage.input_tokens_details ?? usage.input_token_details,
  );
  const cached =
    inDetails?.cached_tokens ?? usage.prompt_cache_hit_tokens ?? usage.cached_tokens ?? usage.num_cached_tokens;
  counts.cacheRead = parsePart(cached, tokensIn);
  counts.cacheWrite = parsePart(inDetails?.cache_write_tokens, tokensIn - counts.cacheRead);
  counts.inUncached = tokensIn - counts.cacheRead - counts.cacheWrite;
  counts.audioIn = parsePart(inDetails?.audio_tokens, counts.inUncached);
  counts.imageIn = parsePart(inDetails?.image_tokens, counts.inUncached - counts.audioIn);
  const outDetails = asJsonObject(usage.completion_tokens_details ?? usage.output_tokens_details);
  counts.reasoning = parsePart(outDetails?.reasoning_tokens ?? usage.reasoning_tokens, counts.out - counts.citations);
  counts.audioOut = parsePart(outDetails?.audio_tokens, counts.out);
  counts.imageOut = parsePart(outDetails?.image_tokens, counts.out - counts.audioOut);
  const searches = parseCount(usage.num_search_queries ?? usage.num_server_side_tools_used) ?? 0;
  counts.webSearches = Math.min(SEARCHES_MAX, searches + sumCalls(asJsonObject(usage.connectors)));
  return counts;
}

/** Sum of `{"web_search":2}`. */
function sumCalls(calls: JsonObject | null): number {
  let sum = 0;
  for (const tool in calls) sum += parseCount(calls[tool]) ?? 0;
  return sum;
}

/** No call costs more; a larger figure is an error. */
const USD_MAX = 10_000;
const NANOS_PER_USD = 1e9;
const TICKS_PER_NANO = 10;

/**
 * Cost that the provider states in its usage, nano-dollars: `cost` (OpenRouter), `cost.total_cost` (Perplexity) or
 * `cost_in_usd_ticks` (xAI, 1e-10 USD). Null: none.
 */
export function parseStatedCostNanos(usage: JsonObject): number | null {
  const ticks = usage.cost_in_usd_ticks;
  const usd =
    typeof ticks === 'number'
      ? ticks / TICKS_PER_NANO / NANOS_PER_USD
      : (asJsonObject(usage.cost)?.total_cost ?? usage.cost);
  return typeof usd === 'number' && usd >= 0 && usd <= USD_MAX ? Math.round(usd * NANOS_PER_USD) : null;
}

/**
 * Merges Anthropic's usage into `counts`. Its three input figures are already disjoint. In a stream, message_start has
 * the input and each message_delta cumulative totals; a figure missing in a later object keeps its earlier value.
 * Returns false when the object has no usable figure.
 */
export function mergeAnthropicUsage(counts: UsageCounts, usage: JsonObject): boolean {
  const figures = [
    usage.input_tokens,
    usage.output_tokens,
    usage.cache_read_input_tokens,
    usage.cache_creation_input_tokens,
  ];
  if (figures.some(isImpossibleCount)) return false;
  const tokensIn = parseCount(usage.input_tokens);
  const out = parseCount(usage.output_tokens);
  const cacheRead = parseCount(usage.cache_read_input_tokens);
  const cacheWrite = parseCount(usage.cache_creation_input_tokens);
  if (tokensIn === null && out === null && cacheRead === null && cacheWrite === null) return false;
  counts.inUncached = tokensIn ?? counts.inUncached;
  counts.out = out ?? counts.out;
  counts.cacheRead = cacheRead ?? counts.cacheRead;
  counts.cacheWrite = cacheWrite ?? counts.cacheWrite;
  const lifetimes = asJsonObject(usage.cache_creation);
  if (lifetimes !== null) counts.cacheWrite1h = parseCount(lifetimes.ephemeral_1h_input_tokens) ?? 0;
  counts.cacheWrite1h = Math.min(counts.cacheWrite1h, counts.cacheWrite);
  const outDetails = asJsonObject(usage.output_tokens_details);
  if (outDetails !== null) counts.reasoning = parseCount(outDetails.thinking_tokens) ?? 0;
  counts.reasoning = Math.min(counts.reasoning, counts.out);
  const tools = asJsonObject(usage.server_tool_use);
  if (tools !== null) {
    counts.webSearches = parsePart(tools.web_search_requests, SEARCHES_MAX);
    // Code execution in a response with searches or fetches is free.
    const fetches = parsePart(tools.web_fetch_requests, SEARCHES_MAX);
    const hasRun = parsePart(tools.code_execution_requests, SEARCHES_MAX) > 0;
    counts.codeSessions = hasRun && counts.webSearches + fetches === 0 ? 1 : 0;
  }
  if (Array.isArray(usage.iterations)) counts.outsideTotals = sumStepsOutsideTotals(usage.iterations);
  return true;
}

/**
 * The totals hold the steps of the called model only: not the summary of a compaction, nor the answers of an advisor
 * (https://platform.claude.com/docs/en/build-with-claude/compaction).
 */
function sumStepsOutsideTotals(iterations: readonly unknown[]): UsageCounts {
  const sum = createEmptyCounts();
  for (const iteration of iterations) {
    const step = asJsonObject(iteration);
    if (step?.type !== 'compaction' && step?.type !== 'advisor_message') continue;
    const counts = createEmptyCounts();
    mergeAnthropicUsage(counts, { ...step, iterations: null });
    for (const figure of STEP_FIGURES) sum[figure] = Math.min(TOKENS_MAX, sum[figure] + counts[figure]);
  }
  return sum;
}

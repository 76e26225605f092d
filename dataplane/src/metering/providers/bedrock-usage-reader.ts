/**
 * Reads the usage of Amazon Bedrock: Converse, ConverseStream, and InvokeModel in the format of each model family
 * (Anthropic, Amazon, Meta, Mistral, OpenAI). Figures in the body count before those of the response's headers. Streams
 * arrive as AWS event-stream frames (bodies/event-stream-meter.ts).
 */
import { compileJsonPaths, type JsonPathNode } from '../../scan/json-paths.js';
import { asJsonObject, type JsonObject, parseJsonObject, parseJsonString } from '../../scan/parse-json-text.js';
import { CumulativeUsageReader } from '../reading/cumulative-usage-reader.js';
import {
  isImpossibleCount,
  mergeAnthropicUsage,
  parseCount,
  parseOpenAiUsage,
  SEARCHES_MAX,
  type UsageCounts,
} from '../reading/provider-usage-to-token-counts.js';
import type { MeterOptions } from '../reading/response-usage-meter-interface.js';
import { IMAGE_TOKENS_OUT } from '../reading/token-estimates.js';
import { findResponseHeader, type ObservedBody } from '../reading/usage-reader-interface.js';

const USAGE = 0;
const MODEL = 1;
const OUTPUT = 2;
const TIER = 3;
const LATENCY = 4;
const IMAGE = 5;
const TOKENS_IN = 6;
const TOKENS_OUT = 7;
/** Output tokens of one of several results. */
const RESULT_TOKENS = 8;

/** Members of a delta that contain generated text. */
const DELTA_MEMBERS = ['text', 'thinking', 'partial_json', 'toolUse.input', 'reasoningContent.text'];

const PATHS = compileJsonPaths({
  usage: USAGE,
  'message.usage': USAGE, // Anthropic, the first event of a stream
  'metadata.usage': USAGE, // Nova, the last event of a stream
  'amazon-bedrock-invocationMetrics': USAGE, // the last event of every other stream
  model: MODEL,
  'message.model': MODEL,
  'serviceTier.type': TIER,
  'performanceConfig.latency': LATENCY,
  ...nameDeltas('delta'), // Converse, Anthropic
  ...nameDeltas('contentBlockDelta.delta'), // Nova
  outputText: OUTPUT, // Titan
  generation: OUTPUT, // Meta
  'outputs[].text': OUTPUT, // Mistral
  'choices[].delta.content': OUTPUT, // OpenAI
  'choices[].delta.reasoning': OUTPUT,
  'images[]': IMAGE,
  inputTextTokenCount: TOKENS_IN, // Titan
  prompt_token_count: TOKENS_IN, // Meta
  totalOutputTextTokenCount: TOKENS_OUT,
  generation_token_count: TOKENS_OUT,
  'results[].tokenCount': RESULT_TOKENS,
});

function nameDeltas(delta: string): Record<string, number> {
  return Object.fromEntries(DELTA_MEMBERS.map((member) => [`${delta}.${member}`, OUTPUT]));
}

const HEADER = 'x-amzn-bedrock-';
const BILLED_OPERATIONS = /\/(?:converse|converse-stream|invoke|invoke-with-response-stream|async-invoke)$/;
const SERVER_EXCEPTIONS = /^(?:internalServer|serviceUnavailable|modelStreamError|modelTimeout)/i;

export class BedrockUsageReader extends CumulativeUsageReader {
  readonly paths: JsonPathNode = PATHS;
  #resultTokens = 0;

  constructor(options: MeterOptions) {
    super();
    const count = (name: string): number | null => parseDigits(findResponseHeader(options, HEADER + name));
    this.mergeUsage((counts) =>
      mergeTotals(
        counts,
        count('input-token-count'),
        count('output-token-count'),
        count('cache-read-input-token-count'),
        count('cache-write-input-token-count'),
      ),
    );
    this.serviceTier = findResponseHeader(options, `${HEADER}service-tier`);
    this.#setLatency(findResponseHeader(options, `${HEADER}performanceconfig-latency`));
  }

  /** A frame that ends the stream with an error. */
  onException(name: string): void {
    this.setError(SERVER_EXCEPTIONS.test(name) ? 'server_error' : name);
  }

  onValue(slot: number, text: string | null): void {
    if (slot === USAGE) {
      const usage = parseJsonObject(text);
      if (usage !== null) this.mergeUsage((counts) => mergeBedrockUsage(counts, usage));
    } else if (slot === MODEL) this.model ??= parseJsonString(text);
    else if (slot === OUTPUT) this.addOutput(text);
    else if (slot === TIER) this.serviceTier = parseJsonString(text, 32);
    else if (slot === LATENCY) this.#setLatency(parseJsonString(text, 32));
    else if (slot === IMAGE) this.counts.images = Math.min(SEARCHES_MAX, this.counts.images + 1);
    else {
      const tokens = parseDigits(text);
      if (slot === RESULT_TOKENS) this.#resultTokens += tokens ?? 0;
      const tokensOut = slot === RESULT_TOKENS ? this.#resultTokens : tokens;
      if (slot === TOKENS_IN) this.mergeUsage((counts) => mergeTotals(counts, tokens, null, null, null));
      else this.mergeUsage((counts) => mergeTotals(counts, null, tokensOut, null, null));
    }
  }

  #setLatency(latency: string | null): void {
    if (latency === 'optimized') this.speed = 'fast';
  }

  protected readonly isBilled = isBilledBedrockPath;

  /** The request's id decides the price, because it names the region group; the response names only the model. */
  protected override chooseModel(requestModel: string | null): string | null {
    return requestModel !== null && !requestModel.startsWith('arn:') ? requestModel : super.chooseModel(requestModel);
  }

  protected override completeCounts({ options }: ObservedBody): void {
    const { counts } = this;
    if (counts.images > 0) {
      counts.imageKind = 'largest';
      counts.out = counts.imageOut = counts.images * IMAGE_TOKENS_OUT;
    }
    // A ranking is billed by its query; no response states that.
    if (options.requestModel?.includes('rerank')) counts.webSearches = 1;
  }
}

/** Whether a POST to this normalized path costs money. */
export const isBilledBedrockPath = (path: string): boolean => BILLED_OPERATIONS.test(path);

function mergeBedrockUsage(counts: UsageCounts, usage: JsonObject): boolean {
  if (usage.prompt_tokens !== undefined || usage.completion_tokens !== undefined) {
    const parsed = parseOpenAiUsage(usage);
    if (parsed !== null) Object.assign(counts, parsed);
    return parsed !== null;
  }
  if (usage.input_tokens !== undefined || usage.output_tokens !== undefined) return mergeAnthropicUsage(counts, usage);
  const figures = [
    usage.inputTokens ?? usage.inputTokenCount,
    usage.outputTokens ?? usage.outputTokenCount,
    usage.cacheReadInputTokens ?? usage.cacheReadInputTokenCount,
    usage.cacheWriteInputTokens ?? usage.cacheWriteInputTokenCount,
  ];
  if (figures.some(isImpossibleCount)) return false;
  const [tokensIn, tokensOut, cacheRead, cacheWrite] = figures.map(parseCount);
  const isMerged = mergeTotals(counts, tokensIn!, tokensOut!, cacheRead!, cacheWrite!);
  const writes = Array.isArray(usage.cacheDetails) ? usage.cacheDetails.map(asJsonObject) : [];
  const longWrites = writes.filter((write) => write?.ttl === '1h').map((write) => parseCount(write?.inputTokens) ?? 0);
  if (longWrites.length > 0) counts.cacheWrite1h = longWrites.reduce((sum, tokens) => sum + tokens);
  counts.cacheWrite1h = Math.min(counts.cacheWrite1h, counts.cacheWrite);
  return isMerged;
}

/** The four figures are disjoint; null keeps the earlier one. Returns false when all are null. */
function mergeTotals(
  counts: UsageCounts,
  tokensIn: number | null,
  tokensOut: number | null,
  cacheRead: number | null,
  cacheWrite: number | null,
): boolean {
  counts.inUncached = tokensIn ?? counts.inUncached;
  counts.out = tokensOut ?? counts.out;
  counts.cacheRead = cacheRead ?? counts.cacheRead;
  counts.cacheWrite = cacheWrite ?? counts.cacheWrite;
  return [tokensIn, tokensOut, cacheRead, cacheWrite].some((count) => count !== null);
}

const parseDigits = (text: string | null): number | null =>
  text !== null && /^\d{1,9}$/.test(text) ? parseCount(Number(text)) : null;

/**
 * Reads from a call's JSON body the facts that bound its cost. The document must have passed the strict validator
 * (policy/body/strict-json-validator.ts). A body without any bound is `unbounded`, and its call is rejected.
 */
import type { UsageFormat } from '../../context/agent-context.js';
import {
  countItems,
  decodeStringAt,
  type JsonObjectNode,
  type JsonSpan,
  walkJson,
} from '../../scan/walk-json-objects.js';
import { DIALECT_MEMBERS, getBodyDialect, IMAGE_MODELS, type MemberPath } from './body-dialect.js';
import { type HostedToolLimits, readHostedToolLimits, TOOL_MEMBERS } from './hosted-tool-limits.js';
import { type CacheTtl, CONTENT_MEMBERS, ContentFacts, isTextOnlyMember } from './non-text-content-facts.js';

export interface ReservationFacts {
  /** Null: the request states none. */
  readonly outputTokensMax: number | null;
  /** Number of requested answers, over all prompts. */
  readonly answerCount: number;
  /** Number of inputs of which each can fill the model's context window: prompts, texts to embed. */
  readonly inputCount: number;
  /** Upper bound for the tokens of the body as text: a token has at least one byte. */
  readonly textTokens: number;
  /** Predicted output of the request, which is billed as output tokens. */
  readonly predictedTokens: number;
  /** Images that the model reads. */
  readonly inputImages: number;
  /** Pages of PDFs that the model also reads as images. Their text is in textTokens. */
  readonly inputPages: number;
  /** The request refers to content outside the body: files, addresses, earlier responses. */
  readonly hasExternalContent: boolean;
  /** The more expensive of `service_tier` and `speed`. */
  readonly speed: ServiceSpeed;
  readonly cacheTtl: CacheTtl;
  readonly hostedTools: HostedToolLimits;
  /** Number of partial images per requested image. */
  readonly partialImages: number;
  /** Images that the call itself generates, where its path does not say so. */
  readonly generatedImages: number;
  /** Most search units of a ranking. */
  readonly searchUnits: number;
  /** Seconds of audio in the request; null when unknown. */
  readonly audioSeconds: number | null;
}

/** Requested service tier. `dearest`: a tier that the gateway does not know, billed at the highest price. */
type ServiceSpeed = 'usual' | 'fast' | 'dearest';

/**
 * `unbounded`: nothing bounds the cost. `invalid`: a maximum is duplicate or not an integer, or there are too many
 * tools or values.
 */
type ReservationProblem = 'unbounded' | 'invalid';

/**
 * Tokens assumed per byte of opaque text, which encodes earlier output or tool results. Assumes that the encoding needs
 * at least a quarter byte per token.
 */
const TOKENS_PER_OPAQUE_BYTE = 4;
/**
 * Vendors add their own prompt for tools and for an output format (Anthropic: at most 530 tokens,
 * https://platform.claude.com/docs/en/agents-and-tools/tool-use/overview#pricing), and frame each tool.
 */
const ADDED_TOKENS = 1_000;
const TOKENS_PER_TOOL = 64;
/**
 * The limit of Anthropic's tool search, and above that of any other vendor. Each tool is kept while the body is read.
 */
const TOOLS_MAX = 10_000;
const FORMATS: readonly string[] = ['output_config', 'output_format', 'response_format'];
/** Citable documents are split into sentences with a mark each. */
const CITATION_TOKENS_RATIO = 2;
/** Numbers of answers or images. */
const ANSWER_MEMBERS: readonly MemberPath[] = [
  ['n'],
  ['best_of'],
  ['num_generations'],
  ['generationconfig', 'candidatecount'],
  ['parameters', 'samplecount'],
  ['imagegenerationconfig', 'numberofimages'],
];
/** Watched members of the document. */
const DOCUMENT_MEMBERS: readonly string[] = [
  'max_tokens',
  'max_completion_tokens',
  'max_output_tokens',
  'max_tokens_to_sample',
  'n',
  'best_of',
  'background',
  'prompt',
  'suffix',
  'input',
  'previous_response_id',
  'conversation',
  'container',
  'prediction',
  'service_tier',
  'speed',
  ...FORMATS,
  'partial_images',
  'fallbacks',
  'plugins',
  'mcp_servers',
  'multi_agent',
  'search_parameters',
  'compound_custom',
  'connectors',
  'deferred',
  'preset',
];
/**
 * Members that make a provider run other models or tools, whose cost has no bound, or answer later, beside the metering.
 */
const UNBOUNDED_MEMBERS: readonly string[] = [
  'fallbacks',
  'plugins',
  'mcp_servers',
  'search_parameters',
  'compound_custom',
  'connectors',
  'deferred', // xAI
  'preset', // OpenRouter, Perplexity
  'promptvariables',
  'cachedcontent', // can have tools
];
/** Calls whose cost has no bound: pages of documents, films, work that continues after the response. */
const UNBOUNDED_CALLS = /(?:\/ocr|\/async-invoke|:predictlongrunning|:batchgeneratecontent|\/interactions)$/;
/** Members of Converse's `additionalModelRequestFields` that change neither the output's maximum nor the tools. */
const HARMLESS_FIELDS: readonly string[] = [
  'anthropic_beta',
  'reasoning_config',
  'reasoning_effort',
  'reasoningconfig',
  'inferenceconfig',
  'thinking',
  'top_k',
  'topk',
];
const REFERENCE_MEMBERS: readonly string[] = ['previous_response_id', 'conversation', 'container'];
/** Texts, images or requests of which each can fill the model's context window, by their member of the document. */
const INPUT_LISTS: readonly string[] = ['texts', 'inputs', 'requests'];
/** The samples of Imagen where the call states none. */
const DEFAULT_SAMPLES = 4;
/**
 * A search unit is a query with 100 documents, and a document of more than 510 tokens counts as several
 * (https://docs.cohere.com/docs/rerank). Assumes chunks of half that size, because the query is part of each.
 */
const DOCUMENTS_PER_SEARCH_UNIT = 100;
const BYTES_PER_DOCUMENT = 255;
const USUAL_TIERS: ReadonlySet<string> = new Set([
  'auto',
  'default',
  'standard',
  'standard_only',
  'unspecified',
  'flex',
  'batch',
  'reserved',
]);
const FAST_TIERS: ReadonlySet<string> = new Set(['priority', 'fast', 'optimized']);
const WATCHED: ReadonlySet<string> = new Set([...DOCUMENT_MEMBERS, ...CONTENT_MEMBERS, ...TOOL_MEMBERS]);
const WATCHED_BY_DIALECT: ReadonlySet<string> = new Set([...WATCHED, ...HARMLESS_FIELDS, ...DIALECT_MEMBERS]);
const INTEGER = /^\d{1,12}$/;

/** The call to which a body belongs. */
interface BoundedCall {
  readonly format: UsageFormat;
  /** Normalized as metering compares it (`normalizePath`). */
  readonly path: string;
  readonly model: string;
  /** `Upstream.ignoredToolMaxima` */
  readonly ignoredToolMaxima: readonly string[];
}

export function readReservationFacts(body: Buffer, call: BoundedCall): ReservationFacts | ReservationProblem {
  const dialect = getBodyDialect(call.format);
  const content = new ContentFacts(body);
  const tools: JsonObjectNode[] = [];
  let document: JsonObjectNode | null = null;
  let hasDuplicate = false;
  walkJson(body, {
    watchedMembers: isVendorDialect(call.format) ? WATCHED : WATCHED_BY_DIALECT,
    foldName: dialect.foldName,
    exactNames: dialect.exactNames,
    shouldIgnore: isTextOnlyMember,
    onObjectEnd(object) {
      content.add(object);
      hasDuplicate ||= object.hasDuplicateMember && isInterpreted(object);
      if (object.parent === null) document = object;
      else if (isTool(object) && tools.length <= TOOLS_MAX) tools.push(object);
    },
  });
  const facts =
    document === null || tools.length > TOOLS_MAX
      ? 'invalid'
      : createReservationFacts(body, call, document, content, tools);
  return hasDuplicate && facts !== 'unbounded' ? 'invalid' : facts;
}

const isVendorDialect = (format: UsageFormat): boolean => format === 'openai' || format === 'anthropic';

/** Whether the object is in `tools` of the document, or of Converse's `toolConfig`. */
function isTool({ name, parent }: JsonObjectNode): boolean {
  if (name !== 'tools' || parent === null) return false;
  return parent.parent === null || (parent.name === 'toolconfig' && parent.parent.parent === null);
}

/**
 * Whether a provider may interpret the members of this object, so that two spellings of a name are ambiguous. In
 * ignored objects only the tools and the objects directly in them count. Names in schemas and metadata are free.
 */
function isInterpreted({ isIgnored: ignored, rootMember: root, parent }: JsonObjectNode): boolean {
  if (!ignored) return true;
  const outer = parent?.parent ?? null;
  return root === 'tools' && (outer === null || outer.parent === null);
}

function createReservationFacts(
  body: Buffer,
  { path, format, model, ignoredToolMaxima }: BoundedCall,
  document: JsonObjectNode,
  content: ContentFacts,
  tools: readonly JsonObjectNode[],
): ReservationFacts | ReservationProblem {
  const { values, objects } = document;
  const background = values.get('background');
  if (background !== undefined && rawTextAt(body, background) !== 'false') return 'unbounded';
  if (content.hasCachedContent || UNBOUNDED_MEMBERS.some((member) => isFilled(body, values.get(member))))
    return 'unbounded';
  // Agents start further agents without a maximum: https://developers.openai.com/api/docs/guides/responses-multi-agent
  const agents = values.get('multi_agent');
  if (agents !== undefined && rawMember(body, objects.get('multi_agent'), 'enabled') !== 'false') return 'unbounded';
  // A stored prompt can add tools and images that are not in the body.
  if (objects.has('prompt') || model.includes(':prompt/')) return 'unbounded';
  if (UNBOUNDED_CALLS.test(path) || !areHarmless(objects.get('additionalmodelrequestfields'))) return 'unbounded';
  const hosted = readHostedToolLimits(body, document, tools, format, ignoredToolMaxima);
  if (hosted === null) return 'unbounded';
  const stated = getBodyDialect(format)
    .maximumMembers(path, model)
    .map((member) => findMember(document, member))
    .filter((span) => span !== undefined);
  const maxima = stated.map((span) => (span.isAltSpelling ? Number.NaN : parseIntegerAt(body, span)));
  const answers = ANSWER_MEMBERS.map((member) => parseIntegerAt(body, findMember(document, member), 1));
  const partialImages = parseIntegerAt(body, values.get('partial_images'), 0);
  if (maxima.length > 1 || [...maxima, ...answers, partialImages].includes(Number.NaN)) return 'invalid';
  const prompts = countArrayItems(body, values.get('prompt'));
  const isPrompted = path.endsWith('/completions') && !path.endsWith('/chat/completions');
  const prediction = values.get('prediction');
  const isFramed = !isVendorDialect(format) || tools.length > 0 || FORMATS.some((member) => values.has(member));
  const { mediaBytes, opaqueBytes, pageTextBytes } = content;
  const added = isFramed ? ADDED_TOKENS + tools.length * TOKENS_PER_TOOL + hosted.addedTokens : 0;
  // The provider appends the suffix to every prompt.
  const suffix = isPrompted ? values.get('suffix') : undefined;
  const suffixBytes = suffix === undefined ? 0 : (suffix.end - suffix.start) * (prompts - 1);
  const textBytes = body.length + suffixBytes - mediaBytes + opaqueBytes * (TOKENS_PER_OPAQUE_BYTE - 1) + added;
  return {
    outputTokensMax: maxima[0] ?? null,
    answerCount: Math.max(1, ...answers) * prompts,
    inputCount: Math.max(
      prompts,
      path.endsWith('/embeddings') ? countArrayItems(body, values.get('input')) : 1,
      ...INPUT_LISTS.map((member) => countArrayItems(body, values.get(member))),
    ),
    textTokens: content.hasCitations ? CITATION_TOKENS_RATIO * (textBytes + pageTextBytes) : textBytes + pageTextBytes,
    predictedTokens: prediction === undefined || isPrompted ? 0 : prediction.end - prediction.start,
    inputImages: content.images,
    inputPages: content.pages,
    hasExternalContent:
      content.hasExternalContent || hosted.hasExternalContent || REFERENCE_MEMBERS.some((member) => values.has(member)),
    speed: pickDearestSpeed(SPEED_MEMBERS.map((member) => parseSpeed(body, findMember(document, member)))),
    cacheTtl: content.cacheTtl,
    hostedTools: hosted,
    partialImages,
    generatedImages: countGeneratedImages(path, model, Math.max(...answers)),
    searchUnits: /\/rerank$/.test(path) || /rerank/.test(model) ? countSearchUnits(body, values.get('documents')) : 0,
    audioSeconds: path.includes('/audio/') && !path.endsWith('/speech') ? null : 0,
  };
}

const SPEED_MEMBERS: readonly MemberPath[] = [
  ['service_tier'],
  ['speed'],
  ['servicetier'],
  ['servicetier', 'type'],
  ['performanceconfig', 'latency'],
];

/** Undefined when the member is missing. */
function findMember(document: JsonObjectNode, path: MemberPath): JsonSpan | undefined {
  const span = document.values.get(path[0]);
  if (path.length === 1 || span === undefined) return span;
  const found = document.objects.get(path[0])?.values.get(path[1]!);
  return found && { ...found, isAltSpelling: found.isAltSpelling === true || span.isAltSpelling === true };
}

/** Whether an object has no members but these. */
const hasOnly = (object: JsonObjectNode | undefined, members: readonly string[]): boolean =>
  object === undefined || members.filter((member) => object.values.has(member)).length === object.memberCount;

const areHarmless = (fields: JsonObjectNode | undefined): boolean =>
  hasOnly(fields, HARMLESS_FIELDS) && hasOnly(fields?.objects.get('inferenceconfig'), ['topk', 'top_k']);

function countGeneratedImages(path: string, model: string, answers: number): number {
  if (path.endsWith(':predict')) return Math.max(answers, DEFAULT_SAMPLES);
  return path.endsWith('/invoke') && IMAGE_MODELS.test(model) ? answers : 0;
}

function countSearchUnits(body: Buffer, documents: JsonSpan | undefined): number {
  const count = countArrayItems(body, documents) + Math.ceil(body.length / BYTES_PER_DOCUMENT);
  return Math.ceil(count / DOCUMENTS_PER_SEARCH_UNIT);
}

/** Number of texts or token lists in an array; 1 for anything else. */
const countArrayItems = (body: Buffer, span: JsonSpan | undefined): number =>
  span === undefined ? 1 : Math.max(1, countItems(body, span));

/** The integer at `span`, `otherwise` when there is none, NaN when it is not an integer. */
function parseIntegerAt(body: Buffer, span: JsonSpan | undefined, otherwise = 0): number {
  if (span === undefined) return otherwise;
  const text = rawTextAt(body, span);
  return INTEGER.test(text) ? Number(text) : Number.NaN;
}

const OPEN_BRACE = 0x7b;
const RAW_BYTES_MAX = 16;
const rawTextAt = (body: Buffer, { start, end }: JsonSpan): string =>
  body.toString('latin1', start, Math.min(end, start + RAW_BYTES_MAX));

/** Raw text of a member; undefined when the object or the member in its exact spelling is missing. */
function rawMember(body: Buffer, object: JsonObjectNode | undefined, member: string): string | undefined {
  const span = object?.values.get(member);
  return span === undefined || span.isAltSpelling ? undefined : rawTextAt(body, span);
}

function parseSpeed(body: Buffer, span: JsonSpan | undefined): ServiceSpeed {
  if (span === undefined) return 'usual';
  if (body[span.start] === OPEN_BRACE) return 'usual'; // its type is read
  return speedOf(decodeStringAt(body, span) ?? '');
}

function speedOf(value: string): ServiceSpeed {
  const tier = value.toLowerCase().replace(/^service_tier_/, '');
  if (USUAL_TIERS.has(tier)) return 'usual';
  return FAST_TIERS.has(tier) ? 'fast' : 'dearest';
}

/** Headers with which a request names its tier: InvokeModel's, whose body is the model's own, and Vertex AI's. */
const SPEED_HEADERS: ReadonlySet<string> = new Set([
  'x-amzn-bedrock-service-tier',
  'x-amzn-bedrock-performanceconfig-latency',
  'x-vertex-ai-llm-shared-request-type',
]);

/** The most expensive of `speed` and those in `headers` (flat, lower-case names). */
export function pickSpeedWithHeaders(speed: ServiceSpeed, headers: readonly string[]): ServiceSpeed {
  const speeds = [speed];
  for (let i = 0; i < headers.length; i += 2)
    if (SPEED_HEADERS.has(headers[i]!)) speeds.push(speedOf(headers[i + 1]!.trim()));
  return pickDearestSpeed(speeds);
}

function pickDearestSpeed(speeds: readonly ServiceSpeed[]): ServiceSpeed {
  if (speeds.includes('dearest')) return 'dearest';
  return speeds.includes('fast') ? 'fast' : 'usual';
}

/** Whether the value is neither missing, nor null, nor `false`, nor an empty list. */
const isFilled = (body: Buffer, span: JsonSpan | undefined): boolean =>
  span !== undefined && !/^(?:\[\s*\]|false)$/.test(rawTextAt(body, span));

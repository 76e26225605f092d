/**
 * How the bodies of a usage format name the facts that bound a call's cost. Names are compared folded: in lower case,
 * for Google also without underscores, because its parsers read `max_output_tokens` and `maxOutputTokens` alike. What
 * lowers a reservation counts only in a spelling that the provider reads.
 */
import type { UsageFormat } from '../../context/agent-context.js';
import { foldCase } from '../../scan/walk-json-objects.js';

/** Folded names of a member of the document, or of a member of an object in it. */
export type MemberPath = readonly [outer: string, inner?: string];

interface BodyDialect {
  readonly foldName: (name: string) => string;
  /** Names that folding changes although the provider reads them as they are. */
  readonly exactNames: ReadonlySet<string>;
  /** Members that state an output maximum for this call; the provider ignores all others. `path`: normalized. */
  maximumMembers(path: string, model: string): readonly MemberPath[];
}

/** Names with capitals, as the providers spell them. */
const GOOGLE_NAMES: readonly string[] = [
  'cachedContent',
  'candidateCount',
  'computerUse',
  'fileData',
  'fileUri',
  'functionCall',
  'functionDeclarations',
  'functionResponse',
  'generationConfig',
  'inlineData',
  'maxOutputTokens',
  'mimeType',
  'sampleCount',
  'serviceTier',
  'thoughtSignature',
];
const BEDROCK_NAMES: readonly string[] = [
  'additionalModelRequestFields',
  'cachePoint',
  'imageGenerationConfig',
  'inferenceConfig',
  'maxTokenCount',
  'maxTokens',
  'numberOfImages',
  'performanceConfig',
  'promptVariables',
  'redactedContent',
  'serviceTier',
  'textGenerationConfig',
  'toolConfig',
  'toolSpec',
];

/** Folded names to watch in addition to those of OpenAI and Anthropic. */
export const DIALECT_MEMBERS: readonly string[] = [
  ...[...GOOGLE_NAMES, ...BEDROCK_NAMES].map((name) => name.toLowerCase()),
  'bytes',
  'documents',
  'format',
  'inputs',
  'latency',
  'max_gen_len',
  'max_new_tokens',
  'num_generations',
  'parameters',
  'requests',
  'text',
  'texts',
  'content',
];

const MAX_TOKENS: readonly MemberPath[] = [['max_tokens']];
const MAX_OUTPUT_TOKENS: readonly MemberPath[] = [['max_output_tokens']];
const MAX_TOKENS_TO_SAMPLE: readonly MemberPath[] = [['max_tokens_to_sample']];
const CHAT_MAXIMUM: readonly MemberPath[] = [['max_tokens'], ['max_completion_tokens']];
const ANY_MAXIMUM: readonly MemberPath[] = [...CHAT_MAXIMUM, ...MAX_OUTPUT_TOKENS, ...MAX_TOKENS_TO_SAMPLE];
const GEMINI_MAXIMUM: readonly MemberPath[] = [['generationconfig', 'maxoutputtokens']];
const CONVERSE_MAXIMUM: readonly MemberPath[] = [['inferenceconfig', 'maxtokens']];
const NONE: readonly MemberPath[] = [];

/** Where the body of InvokeModel states the maximum. For another id, such as an ARN, no member counts. */
const BEDROCK_FAMILIES: readonly (readonly [model: RegExp, members: readonly MemberPath[]])[] = [
  [/^arn:/, NONE],
  [/claude/, [...MAX_TOKENS, ...MAX_TOKENS_TO_SAMPLE]],
  [/amazon\.nova/, [...CONVERSE_MAXIMUM, ['inferenceconfig', 'max_new_tokens']]],
  [/amazon\.titan/, [['textgenerationconfig', 'maxtokencount']]],
  [/meta\.llama/, [['max_gen_len']]],
  [/(?:mistral|cohere|ai21|deepseek|openai|qwen|writer|nvidia|google|moonshot\w*|minimax)\./, CHAT_MAXIMUM],
];

const VENDOR_DIALECT: BodyDialect = {
  foldName: foldCase,
  exactNames: new Set(),
  maximumMembers(path) {
    if (/\/(?:chat\/completions|sonar)$/.test(path)) return CHAT_MAXIMUM;
    if (/\/(?:completions|messages)$|:(?:stream)?rawpredict$/.test(path)) return MAX_TOKENS;
    if (/\/(?:responses|agent)$/.test(path)) return MAX_OUTPUT_TOKENS;
    if (path.endsWith('/complete')) return MAX_TOKENS_TO_SAMPLE;
    return /\/(?:embeddings|moderations|images|audio|videos|compact|input_tokens|count_tokens)(?:\/|$)/.test(path)
      ? NONE
      : ANY_MAXIMUM;
  },
};

const DIALECTS: { readonly [Format in UsageFormat]?: BodyDialect } = {
  gemini: {
    foldName: (name) => foldCase(name).replaceAll('_', ''),
    exactNames: new Set([...GOOGLE_NAMES, ...GOOGLE_NAMES.map(toSnakeCase)]),
    maximumMembers: (path) => (/:(?:stream)?generatecontent$/.test(path) ? GEMINI_MAXIMUM : NONE),
  },
  bedrock: {
    foldName: foldCase,
    exactNames: new Set(BEDROCK_NAMES),
    maximumMembers: (path, model) =>
      /\/converse(?:-stream)?$/.test(path)
        ? CONVERSE_MAXIMUM
        : (BEDROCK_FAMILIES.find(([family]) => family.test(model))?.[1] ?? NONE),
  },
  cohere: { ...VENDOR_DIALECT, maximumMembers: (path) => (/\/(?:chat|generate)$/.test(path) ? MAX_TOKENS : NONE) },
};

export const getBodyDialect = (format: UsageFormat): BodyDialect => DIALECTS[format] ?? VENDOR_DIALECT;

function toSnakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Models of Bedrock that generate images. */
export const IMAGE_MODELS = /canvas|-image|(?:^|\.)stability\./;

/** Whether the call generates no text: its output costs nothing, or is counted in images or search units. */
export const generatesNoText = (path: string, model: string): boolean =>
  /:(?:embedcontent|batchembedcontents|predict)$|\/(?:embed|embeddings|moderations|rerank)$/.test(path) ||
  (path.endsWith('/invoke') && (/embed|rerank/.test(model) || IMAGE_MODELS.test(model)));

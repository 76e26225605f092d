/**
 * What a call's JSON body says about how much it may cost at most. The document was read strictly before
 * (strict-json.ts). What has no bound at all is said to be unbounded, so that the call is refused.
 */
import { countItems, decodeStringAt, type JsonObjectNode, type JsonSpan, walkJson } from '../../scan/json-walker.js';
import { type CacheTtl, CONTENT_MEMBERS, ContentFacts, isTextOnlyMember } from './content-facts.js';
import { type HostedToolLimits, readHostedToolLimits, TOOL_MEMBERS } from './hosted-tool-limits.js';

export interface ReservationFacts {
  /** Null: none is stated. */
  readonly outputTokensMax: number | null;
  /** How many answers are asked for, over all prompts. */
  readonly answerCount: number;
  /** How many inputs there are of which each can fill the model's window: prompts, texts to embed. */
  readonly inputCount: number;
  /** Tokens of the body as text: a token has one byte at least. */
  readonly textTokens: number;
  /** Tokens that are billed as output although the request states them: a prediction. */
  readonly predictedTokens: number;
  /** Images that are read. */
  readonly inputImages: number;
  /** Pages of PDFs, of which each is read as an image, too; their text is in textTokens. */
  readonly inputPages: number;
  /** It refers to content that is not in it: files, addresses, earlier answers. */
  readonly hasExternalContent: boolean;
  /** The dearest of `service_tier` and `speed`. */
  readonly speed: ServiceSpeed;
  readonly cacheTtl: CacheTtl;
  readonly hostedTools: HostedToolLimits;
  /** Of images that are drawn while they are made. */
  readonly partialImages: number;
  /** Of recordings that are sent; null: they do not say how long they are. */
  readonly audioSeconds: number | null;
}

/** What a call asks for: `dearest` is any tier that is not known here. */
type ServiceSpeed = 'usual' | 'fast' | 'dearest';

/** `unbounded`: the call could cost anything. `odd`: a maximum is given twice, or is no integer; or there are too many tools. */
type ReservationProblem = 'unbounded' | 'odd';

/**
 * Opaque text holds what an earlier answer said or found. It is assumed not to be packed to fewer bytes than a quarter of
 * its tokens.
 */
const TOKENS_PER_OPAQUE_BYTE = 4;
/**
 * Vendors add a prompt of their own where there are tools or a format of the answer (Anthropic: at most 530 tokens,
 * https://platform.claude.com/docs/en/agents-and-tools/tool-use/overview#pricing), and frame each tool.
 */
const ADDED_TOKENS = 1_000;
const TOKENS_PER_TOOL = 64;
/** As many as Anthropic's tool search takes, and more than any other vendor. Each is kept while the body is read. */
const TOOLS_MAX = 10_000;
const FORMATS: readonly string[] = ['output_config', 'output_format', 'response_format'];
/** Each sentence that can be cited has a mark of its own. */
const CITED_RATIO = 2;
const MAXIMA: readonly string[] = ['max_tokens', 'max_completion_tokens', 'max_output_tokens', 'max_tokens_to_sample'];
/** Members of the document that are looked for. */
const DOCUMENT_MEMBERS: readonly string[] = [
  ...MAXIMA,
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
];
const WATCHED: ReadonlySet<string> = new Set([...DOCUMENT_MEMBERS, ...CONTENT_MEMBERS, ...TOOL_MEMBERS]);
/** They make a provider run other models, or tools, whose cost nothing bounds. */
const UNBOUNDED: readonly string[] = ['fallbacks', 'plugins', 'mcp_servers'];
const REFERENCES: readonly string[] = ['previous_response_id', 'conversation', 'container'];
const USUAL_TIERS: ReadonlySet<string> = new Set(['auto', 'default', 'standard', 'standard_only', 'flex', 'batch']);
const FAST_TIERS: ReadonlySet<string> = new Set(['priority', 'fast']);
const INTEGER = /^\d{1,12}$/;

/** `path`: as metering compares it (metering/estimate.ts, `plainPath`). */
export function readReservationFacts(body: Buffer, path: string): ReservationFacts | ReservationProblem {
  const content = new ContentFacts(body);
  const tools: JsonObjectNode[] = [];
  let document: JsonObjectNode | null = null;
  let isOdd = false;
  walkJson(body, {
    watchedMembers: WATCHED,
    shouldIgnore: isTextOnlyMember,
    onObjectEnd(object) {
      content.add(object);
      isOdd ||= object.hasDuplicateMember && isInterpreted(object);
      if (object.parent === null) document = object;
      else if (object.parent.parent === null && object.name === 'tools' && tools.length <= TOOLS_MAX)
        tools.push(object);
    },
  });
  const facts =
    document === null || tools.length > TOOLS_MAX
      ? 'odd'
      : createReservationFacts(body, path, document, content, tools);
  return isOdd && facts !== 'unbounded' ? 'odd' : facts;
}

/**
 * A provider may give a meaning to the object's members, so two spellings of a name are not clear. In what is ignored only
 * the tools and the objects right in them are read: names in schemas and in metadata are free.
 */
function isInterpreted({ isIgnored: ignored, rootMember: root, parent }: JsonObjectNode): boolean {
  if (!ignored) return true;
  const outer = parent?.parent ?? null;
  return root === 'tools' && (outer === null || outer.parent === null);
}

function createReservationFacts(
  body: Buffer,
  path: string,
  document: JsonObjectNode,
  content: ContentFacts,
  tools: readonly JsonObjectNode[],
): ReservationFacts | ReservationProblem {
  const { values, objects } = document;
  const background = values.get('background');
  if (background !== undefined && rawTextAt(body, background) !== 'false') return 'unbounded';
  if (UNBOUNDED.some((member) => isFilled(body, values.get(member)))) return 'unbounded';
  // Agents make further agents, without a largest number:
  // https://developers.openai.com/api/docs/guides/responses-multi-agent
  const agents = values.get('multi_agent');
  if (agents !== undefined && rawMember(body, objects.get('multi_agent'), 'enabled') !== 'false') return 'unbounded';
  // A stored prompt: it can bring tools and images that nobody sees here.
  if (objects.has('prompt')) return 'unbounded';
  const hosted = readHostedToolLimits(body, document, tools);
  if (hosted === null) return 'unbounded';
  const stated = listMaximumMembers(path)
    .map((member) => values.get(member))
    .filter((span) => span !== undefined);
  const maxima = stated.map((span) => (span.isAltSpelling ? Number.NaN : parseIntegerAt(body, span)));
  const answers = ['n', 'best_of'].map((member) => parseIntegerAt(body, values.get(member), 1));
  const partialImages = parseIntegerAt(body, values.get('partial_images'), 0);
  if (maxima.length > 1 || [...maxima, ...answers, partialImages].includes(Number.NaN)) return 'odd';
  const prompts = countArrayItems(body, values.get('prompt'));
  const isPrompted = path.endsWith('/completions') && !path.endsWith('/chat/completions');
  const prediction = values.get('prediction');
  const isFramed = tools.length > 0 || FORMATS.some((member) => values.has(member));
  const { mediaBytes, opaqueBytes, pageTextBytes } = content;
  const added = isFramed ? ADDED_TOKENS + tools.length * TOKENS_PER_TOOL + hosted.addedTokens : 0;
  // Every prompt has the suffix behind it.
  const suffix = isPrompted ? values.get('suffix') : undefined;
  const suffixBytes = suffix === undefined ? 0 : (suffix.end - suffix.start) * (prompts - 1);
  const textBytes = body.length + suffixBytes - mediaBytes + opaqueBytes * (TOKENS_PER_OPAQUE_BYTE - 1) + added;
  return {
    outputTokensMax: maxima[0] ?? null,
    answerCount: Math.max(1, ...answers) * prompts,
    inputCount: Math.max(prompts, path.endsWith('/embeddings') ? countArrayItems(body, values.get('input')) : 1),
    textTokens: content.hasCitations ? CITED_RATIO * (textBytes + pageTextBytes) : textBytes + pageTextBytes,
    predictedTokens: prediction === undefined || isPrompted ? 0 : prediction.end - prediction.start,
    inputImages: content.images,
    inputPages: content.pages,
    hasExternalContent:
      content.hasExternalContent || hosted.hasExternalContent || REFERENCES.some((member) => values.has(member)),
    speed: pickDearestSpeed(['service_tier', 'speed'].map((member) => parseSpeed(body, values.get(member)))),
    cacheTtl: content.cacheTtl,
    hostedTools: hosted,
    partialImages,
    audioSeconds: path.includes('/audio/') && !path.endsWith('/speech') ? null : 0,
  };
}

/** The members that state a maximum for this call: any other is not heeded by its provider. */
function listMaximumMembers(path: string): readonly string[] {
  if (path.endsWith('/chat/completions')) return ['max_tokens', 'max_completion_tokens'];
  if (path.endsWith('/completions') || path.endsWith('/messages')) return ['max_tokens'];
  if (path.endsWith('/responses')) return ['max_output_tokens'];
  if (path.endsWith('/complete')) return ['max_tokens_to_sample'];
  return /\/(?:embeddings|moderations|images|audio|videos|compact|input_tokens|count_tokens)(?:\/|$)/.test(path)
    ? []
    : MAXIMA;
}

/** How many texts or lists of tokens an array holds; 1 for anything else. */
const countArrayItems = (body: Buffer, span: JsonSpan | undefined): number =>
  span === undefined ? 1 : Math.max(1, countItems(body, span));

/** NaN: it is no integer. */
function parseIntegerAt(body: Buffer, span: JsonSpan | undefined, otherwise = 0): number {
  if (span === undefined) return otherwise;
  const text = rawTextAt(body, span);
  return INTEGER.test(text) ? Number(text) : Number.NaN;
}

const RAW_BYTES_MAX = 16;
const rawTextAt = (body: Buffer, { start, end }: JsonSpan): string =>
  body.toString('latin1', start, Math.min(end, start + RAW_BYTES_MAX));

/** Undefined: the object or its member, in its own spelling, is missing. */
function rawMember(body: Buffer, object: JsonObjectNode | undefined, member: string): string | undefined {
  const span = object?.values.get(member);
  return span === undefined || span.isAltSpelling ? undefined : rawTextAt(body, span);
}

function parseSpeed(body: Buffer, span: JsonSpan | undefined): ServiceSpeed {
  if (span === undefined) return 'usual';
  const tier = decodeStringAt(body, span) ?? '';
  if (USUAL_TIERS.has(tier)) return 'usual';
  return FAST_TIERS.has(tier) ? 'fast' : 'dearest';
}

function pickDearestSpeed(speeds: readonly ServiceSpeed[]): ServiceSpeed {
  if (speeds.includes('dearest')) return 'dearest';
  return speeds.includes('fast') ? 'fast' : 'usual';
}

/** Neither missing, nor null, nor an empty list. */
const isFilled = (body: Buffer, span: JsonSpan | undefined): boolean =>
  span !== undefined && !/^(?:\[\s*\]|false)$/.test(rawTextAt(body, span));

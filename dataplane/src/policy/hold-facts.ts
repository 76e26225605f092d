/**
 * What a call's JSON body says about how much it may cost at most. The document was read strictly before
 * (strict-json.ts). What has no bound at all is said to be unbounded, so that the call is refused.
 */
import { countItems, type JsonSpan, stringAt, type WalkedObject, walkJson } from '../scan/json-walk.js';
import { type CacheTtl, CONTENT_MEMBERS, ContentFacts, ignoresContent } from './content-facts.js';
import { type HostedTools, hostedTools, TOOL_MEMBERS } from './hosted-tools.js';

export interface HoldFacts {
  /** Null: none is stated. */
  readonly outputTokensMax: number | null;
  /** How many answers are asked for, over all prompts. */
  readonly answers: number;
  /** How many inputs there are of which each can fill the model's window: prompts, texts to embed. */
  readonly inputs: number;
  /** Tokens of the body as text: a token has one byte at least. */
  readonly textTokens: number;
  /** Tokens that are billed as output although the request states them: a prediction. */
  readonly predictedTokens: number;
  /** Images that are read. */
  readonly imagesIn: number;
  /** Pages of PDFs, of which each is read as an image, too; their text is in textTokens. */
  readonly pagesIn: number;
  /** It refers to content that is not in it: files, addresses, earlier answers. */
  readonly refers: boolean;
  /** The dearest of `service_tier` and `speed`. */
  readonly speed: ServiceSpeed;
  readonly cacheTtl: CacheTtl;
  readonly hosted: HostedTools;
  /** Of images that are drawn while they are made. */
  readonly partialImages: number;
  /** Of recordings that are sent; null: they do not say how long they are. */
  readonly heardSeconds: number | null;
}

/** What a call asks for: `dearest` is any tier that is not known here. */
type ServiceSpeed = 'usual' | 'fast' | 'dearest';

/** `unbounded`: the call could cost anything. `odd`: a maximum is given twice, or is no integer; or there are too many tools. */
type HoldProblem = 'unbounded' | 'odd';

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
export function holdFacts(body: Buffer, path: string): HoldFacts | HoldProblem {
  const content = new ContentFacts(body);
  const tools: WalkedObject[] = [];
  let document: WalkedObject | null = null;
  let isOdd = false;
  walkJson(body, {
    watched: WATCHED,
    ignores: ignoresContent,
    ended(object) {
      content.add(object);
      isOdd ||= object.isOdd && isRead(object);
      if (object.parent === null) document = object;
      else if (object.parent.parent === null && object.name === 'tools' && tools.length <= TOOLS_MAX)
        tools.push(object);
    },
  });
  const facts =
    document === null || tools.length > TOOLS_MAX ? 'odd' : documentFacts(body, path, document, content, tools);
  return isOdd && facts !== 'unbounded' ? 'odd' : facts;
}

/**
 * A provider may give a meaning to the object's members, so two spellings of a name are not clear. In what is ignored only
 * the tools and the objects right in them are read: names in schemas and in metadata are free.
 */
function isRead({ ignored, root, parent }: WalkedObject): boolean {
  if (!ignored) return true;
  const outer = parent?.parent ?? null;
  return root === 'tools' && (outer === null || outer.parent === null);
}

function documentFacts(
  body: Buffer,
  path: string,
  document: WalkedObject,
  content: ContentFacts,
  tools: readonly WalkedObject[],
): HoldFacts | HoldProblem {
  const { values, objects } = document;
  const background = values.get('background');
  if (background !== undefined && rawAt(body, background) !== 'false') return 'unbounded';
  if (UNBOUNDED.some((member) => isFilled(body, values.get(member)))) return 'unbounded';
  // Agents make further agents, without a largest number:
  // https://developers.openai.com/api/docs/guides/responses-multi-agent
  const agents = values.get('multi_agent');
  if (agents !== undefined && rawMember(body, objects.get('multi_agent'), 'enabled') !== 'false') return 'unbounded';
  // A stored prompt: it can bring tools and images that nobody sees here.
  if (objects.has('prompt')) return 'unbounded';
  const hosted = hostedTools(body, document, tools);
  if (hosted === null) return 'unbounded';
  const stated = maximaOf(path)
    .map((member) => values.get(member))
    .filter((span) => span !== undefined);
  const maxima = stated.map((span) => (span.isRespelled ? Number.NaN : integerAt(body, span)));
  const answers = ['n', 'best_of'].map((member) => integerAt(body, values.get(member), 1));
  const partialImages = integerAt(body, values.get('partial_images'), 0);
  if (maxima.length > 1 || [...maxima, ...answers, partialImages].includes(Number.NaN)) return 'odd';
  const prompts = itemsOf(body, values.get('prompt'));
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
    answers: Math.max(1, ...answers) * prompts,
    inputs: Math.max(prompts, path.endsWith('/embeddings') ? itemsOf(body, values.get('input')) : 1),
    textTokens: content.cites ? CITED_RATIO * (textBytes + pageTextBytes) : textBytes + pageTextBytes,
    predictedTokens: prediction === undefined || isPrompted ? 0 : prediction.end - prediction.start,
    imagesIn: content.images,
    pagesIn: content.pages,
    refers: content.refers || hosted.refers || REFERENCES.some((member) => values.has(member)),
    speed: dearestSpeed(['service_tier', 'speed'].map((member) => speedOf(body, values.get(member)))),
    cacheTtl: content.cacheTtl,
    hosted,
    partialImages,
    heardSeconds: path.includes('/audio/') && !path.endsWith('/speech') ? null : 0,
  };
}

/** The members that state a maximum for this call: any other is not heeded by its provider. */
function maximaOf(path: string): readonly string[] {
  if (path.endsWith('/chat/completions')) return ['max_tokens', 'max_completion_tokens'];
  if (path.endsWith('/completions') || path.endsWith('/messages')) return ['max_tokens'];
  if (path.endsWith('/responses')) return ['max_output_tokens'];
  if (path.endsWith('/complete')) return ['max_tokens_to_sample'];
  return /\/(?:embeddings|moderations|images|audio|videos|compact|input_tokens|count_tokens)(?:\/|$)/.test(path)
    ? []
    : MAXIMA;
}

/** How many texts or lists of tokens an array holds; 1 for anything else. */
const itemsOf = (body: Buffer, span: JsonSpan | undefined): number =>
  span === undefined ? 1 : Math.max(1, countItems(body, span));

/** NaN: it is no integer. */
function integerAt(body: Buffer, span: JsonSpan | undefined, otherwise = 0): number {
  if (span === undefined) return otherwise;
  const text = rawAt(body, span);
  return INTEGER.test(text) ? Number(text) : Number.NaN;
}

const RAW_BYTES_MAX = 16;
const rawAt = (body: Buffer, { start, end }: JsonSpan): string =>
  body.toString('latin1', start, Math.min(end, start + RAW_BYTES_MAX));

/** Undefined: the object or its member, in its own spelling, is missing. */
function rawMember(body: Buffer, object: WalkedObject | undefined, member: string): string | undefined {
  const span = object?.values.get(member);
  return span === undefined || span.isRespelled ? undefined : rawAt(body, span);
}

function speedOf(body: Buffer, span: JsonSpan | undefined): ServiceSpeed {
  if (span === undefined) return 'usual';
  const tier = stringAt(body, span) ?? '';
  if (USUAL_TIERS.has(tier)) return 'usual';
  return FAST_TIERS.has(tier) ? 'fast' : 'dearest';
}

function dearestSpeed(speeds: readonly ServiceSpeed[]): ServiceSpeed {
  if (speeds.includes('dearest')) return 'dearest';
  return speeds.includes('fast') ? 'fast' : 'usual';
}

/** Neither missing, nor null, nor an empty list. */
const isFilled = (body: Buffer, span: JsonSpan | undefined): boolean =>
  span !== undefined && !/^(?:\[\s*\]|false)$/.test(rawAt(body, span));

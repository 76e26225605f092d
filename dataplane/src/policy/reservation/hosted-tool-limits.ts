/**
 * Limits of tools that the provider runs itself. After each use the model reads the whole input again plus the tool's
 * result, so the cost grows with the uses. Null: the request states no maximum of uses, or the cost of a use has no
 * bound.
 */
import type { UsageFormat } from '../../context/agent-context.js';
import { decodeStringAt, type JsonObjectNode, type JsonSpan } from '../../scan/walk-json-objects.js';

export interface HostedToolLimits {
  /** Maximum number of tool uses. */
  readonly usesMax: number;
  /** Maximum number of times that the model reads the whole input. */
  readonly turnsMax: number;
  /** Container memory for code, in billing units of 1 GB. */
  readonly containers: number;
  /** The response may contain content from elsewhere without another turn of the model. */
  readonly hasExternalContent: boolean;
  /** Tokens that the vendor adds for its own kinds of tools. */
  readonly addedTokens: number;
}

/** Watched members of the document and of a tool. */
export const TOOL_MEMBERS: readonly string[] = [
  'tools',
  'max_tool_calls',
  'max_uses',
  'memory_limit',
  'container',
  'web_search_options',
  'context_management',
  'compaction',
];

/** Tools that the agent runs itself. */
const AGENT_RUN_TOOLS =
  /^(?:function|custom|namespace|local_shell|apply_patch|computer|computer_use_preview|computer_\d+|bash_\d+|text_editor_\d+|memory_\d+)$/;
/** Tools with a known maximum cost per use: a fee, and the model's context window. */
const SEARCHES = /^(?:web_search|file_search|web_fetch_|tool_search)/;
/** Anthropic's most expensive own tool is `computer`: 735 tokens of definition and 499 of prompt (pricing page). */
const OWN_TOOL_TOKENS = 1_500;
const MEMORY_GIGABYTES: Readonly<Record<string, number>> = { '1g': 1, '4g': 4, '16g': 16, '64g': 64 };
const MEMORY_GIGABYTES_MAX = 64;
const INTEGER = /^\d{1,6}$/;

/**
 * Tools that are named by their only members: of Google (a tool without a type), and of Bedrock's `toolConfig`. An
 * unknown member means a tool that the provider runs.
 */
const AGENT_RUN_MEMBERS: Readonly<Record<string, readonly string[]>> = {
  gemini: ['functiondeclarations', 'computeruse'],
  bedrock: ['toolspec', 'cachepoint'],
};

export function readHostedToolLimits(
  body: Buffer,
  document: JsonObjectNode,
  tools: readonly JsonObjectNode[],
  format: UsageFormat,
  ignoredMaxima: readonly string[],
): HostedToolLimits | null {
  // Each format has one maximum, and a provider may ignore it.
  const maximum = format === 'openai' ? 'max_tool_calls' : 'max_uses';
  const keepsTo = (name: string): boolean => name === maximum && !ignoredMaxima.includes(name);
  const callsMax = keepsTo('max_tool_calls') ? parseIntegerAt(body, document.values.get('max_tool_calls')) : null;
  let uses = 0;
  let ownTools = 0;
  let containers = 0;
  let isHosted = false;
  for (const tool of tools) {
    const span = tool.values.get('type');
    if (format === 'gemini' || tool.rootMember === 'toolconfig') {
      const known = AGENT_RUN_MEMBERS[format]?.filter((member) => tool.values.has(member)) ?? [];
      if (known.length === 0 || known.length !== tool.memberCount) return null;
      continue;
    }
    const type = span === undefined ? 'custom' : ((span.isAltSpelling ? null : decodeStringAt(body, span)) ?? '?');
    if (AGENT_RUN_TOOLS.test(type)) {
      if (type.includes('_')) ownTools++;
      continue;
    }
    isHosted = true;
    const usesMax = keepsTo('max_uses') ? parseIntegerAt(body, tool.values.get('max_uses')) : null;
    if (type === 'code_interpreter' && callsMax !== null) containers += parseGigabytes(body, tool);
    else if (!SEARCHES.test(type) || (callsMax === null && usesMax === null)) return null;
    uses += usesMax ?? 0;
  }
  if (isHosted && callsMax !== null) uses = callsMax;
  const searchesOnce = document.values.has('web_search_options');
  // Each turn may first read its input to compact it.
  const readsPerTurn = document.values.has('context_management') || document.values.has('compaction') ? 2 : 1;
  return {
    usesMax: searchesOnce ? uses + 1 : uses,
    turnsMax: (1 + uses) * readsPerTurn,
    containers,
    hasExternalContent: searchesOnce,
    addedTokens: ownTools * OWN_TOOL_TOKENS,
  };
}

function parseGigabytes(body: Buffer, tool: JsonObjectNode): number {
  const container = tool.objects.get('container');
  const limit = container?.values.get('memory_limit');
  if (limit === undefined) return container === undefined ? MEMORY_GIGABYTES_MAX : 1;
  const gigabytes = limit.isAltSpelling ? '' : (decodeStringAt(body, limit) ?? '');
  return MEMORY_GIGABYTES[gigabytes] ?? MEMORY_GIGABYTES_MAX;
}

function parseIntegerAt(body: Buffer, span: JsonSpan | undefined): number | null {
  if (span === undefined || span.isAltSpelling) return null;
  const text = body.toString('latin1', span.start, Math.min(span.end, span.start + 8));
  return INTEGER.test(text) ? Number(text) : null;
}

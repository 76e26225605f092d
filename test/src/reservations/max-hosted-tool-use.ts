/** How often a vendor may run its own tools within one response, and the fees of these uses. Pure. */
import type { UsageReading } from '@acg/dataplane/metering/reading/response-usage-meter-interface';
import type { Json } from './max-prompt-tokens.js';
import { CONTAINER_GIGABYTES, HOSTED_TOOLS, UNBOUNDED_TOOLS } from './vendor-limits.js';

interface HostedToolUse {
  /** Infinity when nothing bounds it. */
  readonly uses: number;
  readonly extras: Partial<UsageReading['extras']>;
}

type Fields = Readonly<Record<string, Json>>;

export function maxHostedToolUse(body: Fields): HostedToolUse {
  const tools = (Array.isArray(body.tools) ? body.tools : []) as readonly Fields[];
  // Agents create further agents, without a maximum:
  // https://developers.openai.com/api/docs/guides/responses-multi-agent
  const makesAgents = (body.multi_agent as Fields | undefined)?.enabled === true;
  if (makesAgents || tools.some(({ type }) => UNBOUNDED_TOOLS.includes(String(type)))) {
    return { uses: Number.POSITIVE_INFINITY, extras: {} };
  }
  const hosted = tools.filter(({ type }) => HOSTED_TOOLS[String(type)] !== undefined);
  const stated = body.max_tool_calls;
  const together = typeof stated === 'number' && hosted.length > 0 ? stated : null;
  const uses = together ?? maxToolUses(hosted);
  const withFee = (fee: string) => hosted.filter(({ type }) => HOSTED_TOOLS[String(type)]!.fee === fee);
  const searching = withFee('search');
  const containers = withFee('container').map(containerGigabytes);
  // A container exists from its first use on and serves all further uses.
  const others = together === null ? uses : together - containers.length;
  const searches = searching.length === 0 ? 0 : together === null ? maxToolUses(searching) : others;
  return {
    uses,
    extras: {
      webSearches: searches,
      fileSearches: searching.length === 0 && withFee('file').length > 0 ? others : 0,
      containers: containers.reduce((sum, gigabytes) => sum + gigabytes, 0),
    },
  };
}

const maxToolUses = (tools: readonly Fields[]): number =>
  tools.reduce((sum, { max_uses }) => sum + (typeof max_uses === 'number' ? max_uses : Number.POSITIVE_INFINITY), 0);

function containerGigabytes({ container }: Fields): number {
  return CONTAINER_GIGABYTES[String((container as Fields | undefined)?.memory_limit)] ?? 1;
}

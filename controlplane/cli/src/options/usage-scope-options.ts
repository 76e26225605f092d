/** Options for the scope of a report: organization, project or agent, and a time range. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { findAgentId } from '../api/find-agent.js';
import { findProjectId } from '../api/find-by-name.js';
import { omitUndefined } from '../api/omit-undefined.js';
import type { Invocation } from '../invocation/invocation.js';

export const DIMENSIONS = ['project', 'agent', 'provider', 'model', 'tool', 'key', 'status', 'reason'] as const;
const TAG_DIMENSION = /^tag:[a-z0-9_]{1,32}$/;

/** What `--by` breaks figures down to. */
export const byOption = (): Option =>
  new Option('--by <what>', `broken down: ${DIMENSIONS.join(', ')}, or tag:KEY`).argParser((value) => {
    if ((DIMENSIONS as readonly string[]).includes(value) || TAG_DIMENSION.test(value)) return value;
    throw new InvalidArgumentError(`Use one of ${DIMENSIONS.join(', ')}, or tag:KEY.`);
  });

const PERIODS = ['24h', '7d', '30d', '90d'] as const;

export interface UsageScopeOptions {
  readonly agent?: string;
  readonly period?: (typeof PERIODS)[number];
  readonly start?: string;
  readonly end?: string;
}

export const addUsageScopeOptions = (command: Command): Command =>
  command
    .option('--agent <agent>', 'only calls of this agent')
    .addOption(new Option('--period <period>', '24h, if left out').choices(PERIODS))
    .option('--start <day>', 'first day, YYYY-MM-DD, UTC')
    .option('--end <day>', 'last day');

export async function buildUsageScopeQuery(run: Invocation, { agent, period, start, end }: UsageScopeOptions) {
  const { project } = run.settings;
  const agentId = agent === undefined ? undefined : await findAgentId(run, agent);
  const projectId =
    agentId !== undefined || project === null ? undefined : await findProjectId(await run.getClient(), project);
  return omitUndefined({ agentId, projectId, period, start, end });
}

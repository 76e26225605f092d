/** Of whose usage a report is: the organization's, a project's, an agent's, in a span of time. */
import { type Command, Option } from 'commander';
import type { Invocation } from '../invocation/invocation.js';
import { findAgentId } from './agents.js';
import { given } from './given.js';
import { findProject } from './lookup.js';

const PERIODS = ['24h', '7d', '30d', '90d'] as const;

export interface ScopeOptions {
  readonly agent?: string;
  readonly period?: (typeof PERIODS)[number];
  readonly start?: string;
  readonly end?: string;
}

export const scoped = (command: Command): Command =>
  command
    .option('--agent <agent>', 'only this one')
    .addOption(new Option('--period <period>', '24h, if left out').choices(PERIODS))
    .option('--start <day>', 'first day, YYYY-MM-DD, UTC')
    .option('--end <day>', 'last day');

export async function scopeQuery(run: Invocation, { agent, period, start, end }: ScopeOptions) {
  const { project } = run.settings;
  const agentId = agent === undefined ? undefined : await findAgentId(run, agent);
  const projectId =
    agentId !== undefined || project === null ? undefined : await findProject(await run.client(), project);
  return given({ agentId, projectId, period, start, end });
}

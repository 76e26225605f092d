/** `acg logs`: calls, newest last; `-f` goes on with those that come. */
import type { Client } from '@acg/client/client';
import { searchBack } from '@acg/client/search-back';
import type { Command } from 'commander';
import { findAgentId } from '../api/agents.js';
import { follow, PAGE } from '../api/follow.js';
import { given } from '../api/given.js';
import { logLine } from '../api/log-line.js';
import { findProject } from '../api/lookup.js';
import type { Invocation } from '../invocation/invocation.js';
import { printable } from '../terminal/printable.js';
import { parseDuration } from './duration.js';
import { noteRest, type PageOptions, paged, pageOf } from './options.js';
import type { Tree } from './tree.js';

interface LogOptions extends PageOptions {
  readonly follow?: true;
  readonly agent?: string;
  readonly provider?: string;
  readonly model?: string;
  readonly status?: string;
  readonly search?: string;
  readonly since?: string;
  readonly before?: string;
}

/** Calls are on record some seconds after they ended, and not in the order in which they began. */
const OVERLAP_MS = 120_000;
/** Of one search, before somebody is asked whether to go on: some seconds. */
const ANSWERS_MAX = 30;

export function logCommand(command: Command, { begin }: Tree): void {
  paged(command)
    .option('-f, --follow', 'go on with those that come; with --json one object a line')
    .option('--agent <agent>', 'only this one')
    .option('--provider <slug>', 'only this one')
    .option('--model <model>', 'only this one')
    .option('--status <status>', 'a status or a class, e.g. 429 or 4xx')
    .option('--search <text>', 'part of path, model or error')
    .option('--since <span>', 'at most so old, e.g. 10m')
    .option('--before <time>', 'only those that began before, ISO 8601')
    .action(async (options: LogOptions) => {
      const run = begin();
      const client = await run.client();
      const { agent, provider, model, status, search, since, before } = options;
      const { project } = run.settings;
      const filters = given({
        agentId: agent === undefined ? undefined : await findAgentId(run, agent),
        projectId: agent !== undefined || project === null ? undefined : await findProject(client, project),
        provider,
        model,
        status,
        search,
      });
      const sinceMs = since === undefined ? null : Date.now() - parseDuration(since, '--since');
      if (options.follow === true) await followCalls(run, client, filters, sinceMs);
      const startTime = sinceMs === null ? {} : { startTime: new Date(sinceMs).toISOString() };
      const endTime = before === undefined ? {} : { endTime: before };
      const load = (page: object) =>
        client.get('/v1/usage/logs', { params: { query: { ...filters, ...startTime, ...page } } });
      const answer = await searchBack(load, { ...endTime, ...pageOf(options) }, ANSWERS_MAX);
      run.show(answer, () => {
        for (const call of answer.logs.toReversed()) run.out(printable(logLine(call)));
      });
      if (answer.searchedFrom === null) noteRest(run, answer.logs.length, answer);
      else run.note(`older ones were not looked at; go on with --before ${answer.searchedFrom}`);
    });
}

async function followCalls(run: Invocation, client: Client, filters: object, sinceMs: number | null): Promise<never> {
  let startMs = sinceMs ?? Date.now();
  const load = async () => {
    const query = { ...filters, startTime: new Date(startMs).toISOString(), limit: PAGE };
    const { logs } = await client.get('/v1/usage/logs', { params: { query } });
    startMs = Math.max(startMs, Date.now() - OVERLAP_MS);
    return logs;
  };
  return follow(run, { load, line: logLine, onlyNew: false });
}

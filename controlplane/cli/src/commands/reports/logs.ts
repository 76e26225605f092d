/**
 * `acg logs`: lists calls, newest last; `-f` follows new ones. Counts of rejected calls by reason go to stderr;
 * `--refused` lists the newest of them instead.
 */

import { searchOlderCalls } from '@acg/client/search-older-calls';
import type { Client } from '@acg/client/typed-api-client-throwing-errors';
import { type Command, Option } from 'commander';
import { findAgentId } from '../../api/find-agent.js';
import { findProjectId } from '../../api/find-by-name.js';
import { followRows, PAGE_ROWS_MAX } from '../../api/follow-rows.js';
import { omitUndefined } from '../../api/omit-undefined.js';
import type { Invocation } from '../../invocation/invocation.js';
import type { ProgramInterface } from '../../invocation/program-interface-for-commands.js';
import {
  addPageOptions,
  type PageOptions,
  printRemainingRows,
  toPageQuery,
} from '../../options/page-options-and-value-parsers.js';
import { parseDuration } from '../../options/parse-duration.js';
import { escapeControlCharacters } from '../../terminal/escape-control-characters.js';
import { formatCallLine } from './format-call-line.js';
import { printRejectedCalls } from './rejected-calls.js';
import { RejectionCounts } from './rejection-counts.js';

interface LogOptions extends PageOptions {
  readonly follow?: true;
  readonly agent?: string;
  readonly provider?: string;
  readonly model?: string;
  readonly status?: string;
  readonly search?: string;
  readonly tag?: string;
  readonly run?: string;
  readonly wouldReject?: true;
  readonly since?: string;
  readonly before?: string;
  readonly refused?: true;
}

/** Calls are recorded some seconds after they end, and not in the order of their start. */
const POLL_OVERLAP_MS = 120_000;
/** Pages of one search, some seconds, before the user is asked whether to continue. */
const SEARCH_PAGES_MAX = 30;

export function registerLogCommand(command: Command, { begin }: ProgramInterface): void {
  addPageOptions(command)
    .option('-f, --follow', 'print new calls as they are recorded; with --json one object a line')
    .option('--agent <agent>', 'only calls of this agent')
    .option('--provider <slug>', 'only calls to this provider')
    .option('--model <model>', 'only calls of this model')
    .option('--status <status>', 'a status or a class, e.g. 429 or 4xx')
    .option('--search <text>', 'part of path, model or error')
    .option('--tag <key=value>', 'only calls with this tag')
    .option('--run <id>', 'only calls of this run')
    .option('--would-reject', 'only calls that a limit in audit mode would have rejected')
    .option('--since <span>', 'only calls of this last span, e.g. 10m')
    .option('--before <time>', 'only calls that began before this instant, e.g. 2026-11-22T08:00:00Z')
    .addOption(
      new Option('--refused', 'the newest calls that the gateway rejected, for admins').conflicts([
        'provider',
        'model',
        'status',
        'search',
        'tag',
        'run',
        'wouldReject',
      ]),
    )
    .action(async (options: LogOptions) => {
      const run = begin();
      const client = await run.getClient();
      const { agent, provider, model, status, search, since, before } = options;
      const { project } = run.settings;
      const filters = omitUndefined({
        agentId: agent === undefined ? undefined : await findAgentId(run, agent),
        projectId: agent !== undefined || project === null ? undefined : await findProjectId(client, project),
        provider,
        model,
        status,
        search,
        tag: options.tag,
        runId: options.run,
        wouldReject: options.wouldReject,
      });
      const sinceMs = since === undefined ? null : Date.now() - parseDuration(since, '--since');
      const times = omitUndefined({
        startTime: sinceMs === null ? undefined : new Date(sinceMs).toISOString(),
        endTime: before,
      });
      if (options.refused === true) return printRejectedCalls(run, client, { ...filters, ...times }, options);
      const rejections = hasRejections(options) ? new RejectionCounts(client, filters) : null;
      if (options.follow === true) await followCalls(run, client, filters, { sinceMs, rejections });
      const load = (page: object) =>
        client.get('/v1/usage/logs', { params: { query: { ...filters, ...times, ...page } } });
      const answer = await searchOlderCalls(load, toPageQuery(options), SEARCH_PAGES_MAX);
      run.printResult(answer, () => {
        for (const call of answer.logs.toReversed()) run.printLine(escapeControlCharacters(formatCallLine(call)));
        run.printNoneOnTerminal(answer.logs.length);
      });
      if (answer.logs.length === 0 && model !== undefined)
        run.printNote(
          `calls are recorded under the provider's name of the model: --search ${model} finds its versions`,
        );
      if (!run.isJson) for (const line of (await rejections?.readTotals()) ?? []) run.printNote(line);
      if (answer.searchedFrom === null) printRemainingRows(run, answer.logs.length, answer);
      else run.printNote(`older calls were not searched; continue with --before ${answer.searchedFrom}`);
    });
}

/** Rejected calls have neither a model nor a recorded path; provider and status of a rejection are not counted. */
const hasRejections = ({ provider, model, status, search, before, tag, run, wouldReject }: LogOptions): boolean =>
  [provider, model, status, search, before, tag, run, wouldReject].every((option) => option === undefined);

interface FollowOptions {
  readonly sinceMs: number | null;
  readonly rejections: RejectionCounts | null;
}

async function followCalls(
  run: Invocation,
  client: Client,
  filters: object,
  { sinceMs, rejections }: FollowOptions,
): Promise<never> {
  let startMs = sinceMs ?? Date.now();
  const load = async () => {
    const query = { ...filters, startTime: new Date(startMs).toISOString(), limit: PAGE_ROWS_MAX };
    const { logs } = await client.get('/v1/usage/logs', { params: { query } });
    startMs = Math.max(startMs, Date.now() - POLL_OVERLAP_MS);
    for (const line of (await rejections?.readNew()) ?? []) run.printNote(line);
    return logs;
  };
  return followRows(run, { fetchNewest: load, line: formatCallLine, skipExisting: false });
}

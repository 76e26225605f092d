/** `acg top`: refreshes a table of the busiest agents. */
import { setTimeout as sleep } from 'node:timers/promises';
import { noop } from '@acg/base/noop';
import type { Client } from '@acg/client/typed-api-client-throwing-errors';
import type { Command } from 'commander';
import { findProjectId } from '../../api/find-by-name.js';
import type { Invocation } from '../../invocation/invocation.js';
import type { ProgramInterface } from '../../invocation/program-interface-for-commands.js';
import { parseWholeNumber } from '../../options/page-options-and-value-parsers.js';
import { usage } from '../../terminal/cli-error.js';
import { escapeControlCharacters } from '../../terminal/escape-control-characters.js';
import { formatAgo, formatCents, formatCount, formatPercent } from '../../terminal/format-numbers-and-times.js';
import { CallRateMeter } from './call-rate-meter.js';

const ROWS_MAX = 50;
const PERIOD_HOURS = 24;
/** Enters the alternate screen and hides the cursor; the second sequence restores both. */
const ENTER_ALTERNATE_SCREEN = '\u001b[?1049h\u001b[?25l';
const LEAVE_ALTERNATE_SCREEN = '\u001b[?25h\u001b[?1049l';
const CLEAR_SCREEN = '\u001b[H\u001b[2J';

export function registerTopCommand(command: Command, { begin }: ProgramInterface): void {
  command
    .option('--interval <seconds>', 'seconds between two updates', parseWholeNumber, 2)
    .option('--once', 'print the table once; the default without a terminal')
    .action(async ({ interval, once }: { readonly interval: number; readonly once?: true }) => {
      if (interval < 1) throw usage('--interval is at least 1');
      const run = begin();
      const client = await run.getClient();
      const { project } = run.settings;
      const within = project === null ? {} : { projectId: await findProjectId(client, project) };
      const rates = new CallRateMeter();
      if (once === true || run.isJson || run.terminal.stdout.isTTY !== true) {
        const answer = await fetchAgentUsage(client, within);
        run.printResult(answer, () => printAgentUsage(run, answer, rates));
        return;
      }
      await refreshUntilQuit(run, interval * 1_000, async () => {
        const [answer, { circuits }] = await Promise.all([
          fetchAgentUsage(client, within),
          client.get('/v1/circuits', { params: { query: { limit: 100 } } }),
        ]);
        rates.addSample(answer.agents, Date.now());
        run.terminal.stdout.write(CLEAR_SCREEN);
        run.printLine(`acg top – ${run.settings.url} – ${new Date().toISOString().slice(11, 19)} UTC – q ends`);
        run.printLine(
          escapeControlCharacters(circuits.map(({ providerSlug, state }) => `${providerSlug} ${state}`).join(' · ')),
        );
        printAgentUsage(run, answer, rates);
      });
    });
}

type AgentUsagePage = Awaited<ReturnType<typeof fetchAgentUsage>>;
const fetchAgentUsage = (client: Client, within: { projectId?: string }) =>
  client.get('/v1/usage/agents', {
    params: { query: { ...within, period: '24h', sort: 'requests', order: 'desc', limit: ROWS_MAX } },
  });

function printAgentUsage(run: Invocation, { agents }: AgentUsagePage, rates: CallRateMeter): void {
  run.printTable(
    [
      { title: 'AGENT', cell: ({ slug }) => slug },
      { title: 'STATUS', cell: ({ status }) => status },
      { title: 'CALLS/MIN', cell: ({ id }) => rates.formatPerMinute(id), alignRight: true },
      { title: 'CALLS 24H', cell: ({ requests }) => formatCount(requests), alignRight: true },
      { title: 'SPEND/H', cell: ({ costUsd }) => formatCents((costUsd * 100) / PERIOD_HOURS), alignRight: true },
      { title: 'MONTH', cell: ({ monthCents }) => formatCents(monthCents), alignRight: true },
      {
        title: 'ERRORS',
        cell: (agent) => (agent.requests === 0 ? '–' : formatPercent(agent.errorRate)),
        alignRight: true,
      },
      { title: 'REJECTED', cell: ({ rejectedRequests }) => formatCount(rejectedRequests), alignRight: true },
      { title: 'LAST CALL', cell: ({ lastCallAt }) => formatAgo(lastCallAt, Date.now()) },
    ],
    agents,
  );
}

/** Runs until q or Ctrl-C and restores the terminal in every case. */
async function refreshUntilQuit(run: Invocation, intervalMs: number, step: () => Promise<void>): Promise<void> {
  const { stdin, stdout } = run.terminal;
  const end = new AbortController();
  const onKey = (key: Buffer): void => {
    if (['q', '\u0003', '\u001b'].includes(key.toString())) end.abort();
  };
  const onSignal = (): void => end.abort();
  stdout.write(ENTER_ALTERNATE_SCREEN);
  stdin.setRawMode?.(true);
  stdin.on('data', onKey).resume();
  process.once('SIGTERM', onSignal).once('SIGINT', onSignal);
  try {
    while (!end.signal.aborted) {
      await step();
      await sleep(intervalMs, undefined, { signal: end.signal }).catch(noop);
    }
  } finally {
    process.off('SIGTERM', onSignal).off('SIGINT', onSignal);
    stdin.off('data', onKey).pause();
    stdin.setRawMode?.(false);
    stdout.write(LEAVE_ALTERNATE_SCREEN);
  }
}

/** `acg top`: the agents, busiest first, again and again. */
import type { Client } from '@acg/client/client';
import type { Command } from 'commander';
import { CallRates } from '../api/call-rates.js';
import { findProject } from '../api/lookup.js';
import type { Invocation } from '../invocation/invocation.js';
import { usage } from '../terminal/failure.js';
import { ago, count, money, percent } from '../terminal/format.js';
import { printable } from '../terminal/printable.js';
import { wholeNumber } from './options.js';
import type { Tree } from './tree.js';

const ROWS = 50;
const HOURS = 24;
/** A screen of its own, without a cursor; and back. */
const ENTER = '\u001b[?1049h\u001b[?25l';
const LEAVE = '\u001b[?25h\u001b[?1049l';
const HOME = '\u001b[H\u001b[2J';

export function topCommand(command: Command, { begin }: Tree): void {
  command
    .option('--interval <seconds>', 'between two looks', wholeNumber, 2)
    .option('--once', 'one look; always so without a terminal')
    .action(async ({ interval, once }: { readonly interval: number; readonly once?: true }) => {
      if (interval < 1) throw usage('--interval is at least 1');
      const run = begin();
      const client = await run.client();
      const { project } = run.settings;
      const within = project === null ? {} : { projectId: await findProject(client, project) };
      const rates = new CallRates();
      if (once === true || run.json || run.terminal.stdout.isTTY !== true) {
        const answer = await look(client, within);
        run.show(answer, () => draw(run, answer, rates));
        return;
      }
      await watch(run, interval * 1_000, async () => {
        const [answer, { circuits }] = await Promise.all([
          look(client, within),
          client.get('/v1/circuits', { params: { query: { limit: 100 } } }),
        ]);
        rates.observe(answer.agents, Date.now());
        run.terminal.stdout.write(HOME);
        run.out(`acg top – ${run.settings.url} – ${new Date().toISOString().slice(11, 19)} UTC – q ends`);
        run.out(printable(circuits.map(({ providerSlug, state }) => `${providerSlug} ${state}`).join(' · ')));
        draw(run, answer, rates);
      });
    });
}

type Look = Awaited<ReturnType<typeof look>>;
const look = (client: Client, within: { projectId?: string }) =>
  client.get('/v1/usage/agents', {
    params: { query: { ...within, period: '24h', sort: 'requests', order: 'desc', limit: ROWS } },
  });

function draw(run: Invocation, { agents }: Look, rates: CallRates): void {
  run.table(
    [
      { title: 'AGENT', cell: ({ slug }) => slug },
      { title: 'STATUS', cell: ({ status }) => status },
      { title: 'CALLS/MIN', cell: ({ id }) => rates.perMinute(id), right: true },
      { title: 'CALLS 24H', cell: ({ requests }) => count(requests), right: true },
      { title: 'SPEND/H', cell: ({ costUsd }) => money((costUsd * 100) / HOURS), right: true },
      { title: 'MONTH', cell: ({ monthCents }) => money(monthCents), right: true },
      { title: 'ERRORS', cell: (agent) => (agent.requests === 0 ? '–' : percent(agent.errorRate)), right: true },
      { title: 'REFUSED', cell: ({ rejectedRequests }) => count(rejectedRequests), right: true },
      { title: 'LAST CALL', cell: ({ lastCallAt }) => ago(lastCallAt, Date.now()) },
    ],
    agents,
  );
}

/** Until q or Ctrl-C; the terminal is as it was then, whatever happened. */
async function watch(run: Invocation, intervalMs: number, step: () => Promise<void>): Promise<void> {
  const { stdin, stdout } = run.terminal;
  const end = new AbortController();
  const onKey = (key: Buffer): void => {
    if (['q', '\u0003', '\u001b'].includes(key.toString())) end.abort();
  };
  const onSignal = (): void => end.abort();
  stdout.write(ENTER);
  stdin.setRawMode?.(true);
  stdin.on('data', onKey).resume();
  process.once('SIGTERM', onSignal).once('SIGINT', onSignal);
  try {
    while (!end.signal.aborted) {
      await step();
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, intervalMs);
        end.signal.addEventListener('abort', () => {
          clearTimeout(timer);
          resolve();
        });
      });
    }
  } finally {
    process.off('SIGTERM', onSignal).off('SIGINT', onSignal);
    stdin.off('data', onKey).pause();
    stdin.setRawMode?.(false);
    stdout.write(LEAVE);
  }
}

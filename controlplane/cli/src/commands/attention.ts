/** `acg attention`: what needs somebody, the most urgent first, and the command that mends it. */
import type { Command } from 'commander';
import { minute, money } from '../terminal/format.js';
import type { Tree } from './tree.js';

const KINDS = {
  circuit_open: ['provider fails', 'acg circuits'],
  budget: ['budget', 'acg agents set AGENT --budget'],
  needs_credentials: ['key refused', 'acg accounts rotate'],
  webhook_failing: ['webhook fails', 'acg webhooks deliveries'],
  key_expiring: ['key expires', 'acg keys rotate'],
  key_unused: ['key never used', 'acg keys revoke'],
  no_budget: ['no budget', 'acg agents set AGENT --budget'],
} as const;

export function attentionCommand(command: Command, { begin }: Tree): void {
  command.action(async () => {
    const run = begin();
    const answer = await (await run.client()).get('/v1/attention', {});
    const things = answer.attention.flatMap(({ kind, things }) => things.map((thing) => ({ kind, ...thing })));
    run.show(answer, () =>
      run.table(
        [
          { title: 'WHAT', cell: ({ kind }) => KINDS[kind][0] },
          { title: 'OF', cell: ({ name }) => name },
          { title: 'AGENT', cell: ({ agentName }) => agentName ?? '–' },
          { title: 'PROVIDER', cell: ({ providerSlug }) => providerSlug ?? '–' },
          { title: 'AT (UTC)', cell: ({ at }) => minute(at) },
          { title: 'SPENT', cell: ({ monthCents }) => (monthCents === null ? '–' : money(monthCents)) },
          { title: 'BUDGET', cell: ({ budgetCents }) => (budgetCents === null ? '–' : money(budgetCents)) },
          { title: 'NEXT', cell: ({ kind }) => KINDS[kind][1] },
        ],
        things,
      ),
    );
    const left = answer.attention.reduce((sum, { total, things: shown }) => sum + total - shown.length, 0);
    if (left > 0) run.note(`${left} more: five of a kind are shown`);
  });
}

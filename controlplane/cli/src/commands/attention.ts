/** `acg attention`: what needs somebody, the most urgent first, and the command that mends it. */
import type { Command } from 'commander';
import { minute, money } from '../terminal/format.js';
import type { Tree } from './tree.js';

interface Thing {
  readonly id: string;
  readonly agentId: string | null;
}
const budget = ({ id }: Thing): string => `acg agents set ${id} --budget USD`;

/** In words, and the command that mends it, with the id that it wants. */
const KINDS = {
  circuit_open: ['provider fails', () => 'acg circuits'],
  budget: ['budget', budget],
  // Of an agent, an account; of none, a shared credential.
  needs_credentials: ['key refused', ({ id, agentId }) => `acg ${agentId ? 'accounts' : 'credentials'} rotate ${id}`],
  webhook_failing: ['webhook fails', ({ id }) => `acg webhooks deliveries ${id}`],
  key_expiring: ['key expires', ({ id }) => `acg keys rotate ${id}`],
  key_unused: ['key never used', ({ id }) => `acg keys revoke ${id}`],
  no_budget: ['no budget', budget],
} as const satisfies Record<string, readonly [string, (thing: Thing) => string]>;

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
          { title: 'NEXT', cell: ({ kind, ...thing }) => KINDS[kind][1](thing) },
        ],
        things,
      ),
    );
    const left = answer.attention.reduce((sum, { total, things: shown }) => sum + total - shown.length, 0);
    if (left > 0) run.note(`${left} more: five of a kind are shown`);
  });
}

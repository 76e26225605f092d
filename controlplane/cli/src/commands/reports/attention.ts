/** `acg attention`: lists what needs attention, the most urgent first, with the command that fixes each item. */
import type { Command } from 'commander';
import type { ProgramInterface } from '../../invocation/program-interface-for-commands.js';
import { formatCents, formatMinute } from '../../terminal/format-numbers-and-times.js';

interface AttentionItem {
  readonly id: string;
  readonly agentId: string | null;
}
const formatBudgetCommand = ({ id }: AttentionItem): string => `acg agents set ${id} --budget USD`;

/** Description of each kind, and the command that fixes it. */
const ATTENTION_KINDS = {
  sensitive_call: ['sensitive call tried', ({ id }) => `acg keys revoke ${id}`],
  alert_open: ['alert open', ({ id }) => `acg alerts ack ${id}`],
  circuit_open: ['provider fails', () => 'acg circuits'],
  budget: ['budget', formatBudgetCommand],
  reconnect_needed: ['grant ended', ({ id, agentId }) => `acg ${agentId ? 'accounts' : 'credentials'} connect ${id}`],
  // With an agent it is an account; without one, a shared credential.
  needs_credentials: [
    'credential rejected',
    ({ id, agentId }) => `acg ${agentId ? 'accounts' : 'credentials'} rotate ${id}`,
  ],
  webhook_failing: ['webhook fails', ({ id }) => `acg webhooks deliveries ${id}`],
  key_expiring: ['key expires', ({ id }) => `acg keys rotate ${id}`],
  key_unused: ['key never used', ({ id }) => `acg keys revoke ${id}`],
  no_budget: ['no budget', formatBudgetCommand],
} as const satisfies Record<string, readonly [string, (thing: AttentionItem) => string]>;

export function registerAttentionCommand(command: Command, { begin }: ProgramInterface): void {
  command.action(async () => {
    const run = begin();
    const answer = await (await run.getClient()).get('/v1/attention', {});
    const things = answer.attention.flatMap(({ kind, things }) => things.map((thing) => ({ kind, ...thing })));
    run.printResult(answer, () =>
      run.printTable(
        [
          { title: 'WHAT', cell: ({ kind }) => ATTENTION_KINDS[kind][0] },
          { title: 'OF', cell: ({ name }) => name },
          { title: 'AGENT', cell: ({ agentName }) => agentName ?? '–' },
          { title: 'PROVIDER', cell: ({ providerSlug }) => providerSlug ?? '–' },
          { title: 'AT (UTC)', cell: ({ at }) => formatMinute(at) },
          { title: 'CALL', cell: ({ call, clientNetwork }) => (call === null ? '–' : `${call} from ${clientNetwork}`) },
          { title: 'SPENT', cell: ({ monthCents }) => (monthCents === null ? '–' : formatCents(monthCents)) },
          { title: 'BUDGET', cell: ({ budgetCents }) => (budgetCents === null ? '–' : formatCents(budgetCents)) },
          { title: 'NEXT', cell: ({ kind, ...thing }) => ATTENTION_KINDS[kind][1](thing), toCopy: true },
        ],
        things,
      ),
    );
    const left = answer.attention.reduce((sum, { total, things: shown }) => sum + total - shown.length, 0);
    if (left > 0) run.printNote(`${left} more: five of a kind are shown`);
  });
}

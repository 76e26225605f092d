/** `acg open`: opens the dashboard. */
import type { Command } from 'commander';
import { findAgentId } from '../api/find-agent.js';
import type { CommandContext } from '../invocation/command-context.js';
import { toPrintable } from '../terminal/printable.js';

export function registerOpenCommand(command: Command, { begin }: CommandContext): void {
  command.argument('[agent]', 'its page').action(async (agent: string | undefined) => {
    const run = begin();
    const { publicUrl } = await run.createPublicClient().get('/v1/config');
    const base = publicUrl.replace(/\/+$/, '');
    const url = agent === undefined ? `${base}/` : `${base}/agents/${await findAgentId(run, agent)}`;
    run.printResult({ url }, () => run.printLine(toPrintable(url)));
    if (run.isInteractive) await (await import('../terminal/open-browser.js')).openInBrowser(run, url);
  });
}

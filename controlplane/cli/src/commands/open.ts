/** `acg open`: the dashboard. */
import type { Command } from 'commander';
import { findAgentId } from '../api/agents.js';
import { printable } from '../terminal/printable.js';
import type { Tree } from './tree.js';

export function openCommand(command: Command, { begin }: Tree): void {
  command.argument('[agent]', 'its page').action(async (agent: string | undefined) => {
    const run = begin();
    const { publicUrl } = await run.publicClient().get('/v1/config');
    const base = publicUrl.replace(/\/+$/, '');
    const url = agent === undefined ? `${base}/` : `${base}/agents/${await findAgentId(run, agent)}`;
    run.show({ url }, () => run.out(printable(url)));
    if (run.interactive) await (await import('../terminal/browser.js')).openInBrowser(run, url);
  });
}

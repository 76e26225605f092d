/** `acg open`: opens the dashboard. */
import type { Command } from 'commander';
import { findAgentId } from '../api/find-agent.js';
import type { ProgramInterface } from '../invocation/program-interface-for-commands.js';
import { escapeControlCharacters } from '../terminal/escape-control-characters.js';

export function registerOpenCommand(command: Command, { begin }: ProgramInterface): void {
  command.argument('[agent]', 'opens the page of this agent').action(async (agent: string | undefined) => {
    const run = begin();
    const { publicUrl } = await run.createPublicClient().get('/v1/config');
    const base = publicUrl.replace(/\/+$/, '');
    const url = agent === undefined ? `${base}/` : `${base}/agents/${await findAgentId(run, agent)}`;
    run.printResult({ url }, () => run.printLine(escapeControlCharacters(url)));
    if (run.isInteractive) await (await import('../terminal/open-browser.js')).openInBrowser(run, url);
  });
}

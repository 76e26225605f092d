/** `acg call`: one call, with all that is on record of it. */
import type { Command } from 'commander';
import { printableJson } from '../terminal/printable.js';
import type { Tree } from './tree.js';

export function callCommand(command: Command, { begin }: Tree): void {
  command.argument('<call>', 'its id, as acg logs --json has it').action(async (id: string) => {
    const run = begin();
    const answer = await (await run.client()).get('/v1/usage/logs/{id}', { params: { path: { id } } });
    run.show(answer, () => run.out(printableJson(answer.log, 2)));
  });
}

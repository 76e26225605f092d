/** `acg call`: shows the full record of one call. */
import type { Command } from 'commander';
import type { CommandContext } from '../../invocation/command-context.js';
import { toPrintableJson } from '../../terminal/printable.js';

export function registerCallCommand(command: Command, { begin }: CommandContext): void {
  command.argument('<call>', 'its id, as acg logs --json has it').action(async (id: string) => {
    const run = begin();
    const answer = await (await run.getClient()).get('/v1/usage/logs/{id}', { params: { path: { id } } });
    run.printResult(answer, () => run.printLine(toPrintableJson(answer.log, 2)));
  });
}

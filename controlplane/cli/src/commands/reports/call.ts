/** `acg call`: shows the full record of one call. */
import type { Command } from 'commander';
import type { ProgramInterface } from '../../invocation/program-interface-for-commands.js';
import { toJsonWithoutControlCharacters } from '../../terminal/escape-control-characters.js';

export function registerCallCommand(command: Command, { begin }: ProgramInterface): void {
  command.argument('<call>', 'its id, as acg logs --json has it').action(async (id: string) => {
    const run = begin();
    const answer = await (await run.getClient()).get('/v1/usage/logs/{id}', { params: { path: { id } } });
    run.printResult(answer, () => run.printLine(toJsonWithoutControlCharacters(answer.log, 2)));
  });
}

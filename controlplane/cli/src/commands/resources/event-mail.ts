/** `acg event-mail`: manages which members get e-mail about which events. */
import type { Command } from 'commander';
import { findMemberId } from '../../api/find-member.js';
import { fetchIdentity } from '../../api/identity.js';
import type { CommandContext } from '../../invocation/command-context.js';
import {
  addPageOptions,
  noneToNull,
  type OrNone,
  type PageOptions,
  parseList,
  parseOrNone,
  printRemainingRows,
  toPageQuery,
} from '../../options/parse-options.js';
import { usage } from '../../terminal/cli-error.js';

export function registerEventMailCommands(group: Command, { begin }: CommandContext): void {
  addPageOptions(group.command('ls').description('list members and their events')).action(
    async (options: PageOptions) => {
      const run = begin();
      const answer = await (await run.getClient()).get('/v1/event-mail', { params: { query: toPageQuery(options) } });
      run.printResult(answer, () =>
        run.printTable(
          [
            {
              title: 'E-MAIL',
              cell: ({ email, emailVerified }) => (emailVerified ? email : `${email} (not confirmed)`),
            },
            { title: 'EVENTS', cell: ({ events }) => events.join(' ') || '–' },
          ],
          answer.preferences,
        ),
      );
      printRemainingRows(run, answer.preferences.length, answer);
    },
  );
  group
    .command('set')
    .description('set the events that a member gets e-mail about')
    .argument('<member>', 'e-mail or id, or me')
    .requiredOption('--events <events>', 'e.g. usage.threshold,credential.refused, or none', parseOrNone(parseList))
    .action(async (text: string, { events }: { readonly events: OrNone<readonly string[]> }) => {
      const run = begin();
      const client = await run.getClient();
      const userId = text === 'me' ? (await fetchIdentity(client)).user?.id : await findMemberId(client, text);
      if (userId === undefined) throw usage('a management token is nobody: which member?', 'acg members ls');
      // The API validates the names and lists the valid ones.
      const body = { events: [...(noneToNull(events) ?? [])] as never[] };
      const answer = await client.put('/v1/event-mail/{userId}', { params: { path: { userId } }, body });
      const { email, events: chosen } = answer.preference;
      run.printResult(answer, () => run.printSuccess(`${email}: ${chosen.join(', ') || 'no mail'}`));
    });
}

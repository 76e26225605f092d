/** `acg event-mail`: which members get mail about which events. */
import type { Command } from 'commander';
import { whoIs } from '../api/identity.js';
import { findMember } from '../api/members.js';
import { usage } from '../terminal/failure.js';
import { list, noteRest, nullIfNone, type OrNone, orNone, type PageOptions, paged, pageOf } from './options.js';
import type { Tree } from './tree.js';

export function eventMailCommands(group: Command, { begin }: Tree): void {
  paged(group.command('ls').description('list the members, with their events')).action(async (options: PageOptions) => {
    const run = begin();
    const answer = await (await run.client()).get('/v1/event-mail', { params: { query: pageOf(options) } });
    run.show(answer, () =>
      run.table(
        [
          { title: 'E-MAIL', cell: ({ email, emailVerified }) => (emailVerified ? email : `${email} (not confirmed)`) },
          { title: 'EVENTS', cell: ({ events }) => events.join(' ') || '–' },
        ],
        answer.preferences,
      ),
    );
    noteRest(run, answer.preferences.length, answer);
  });
  group
    .command('set')
    .description('say which events a member gets mail about')
    .argument('<member>', 'e-mail or id, or me')
    .requiredOption('--events <events>', 'e.g. usage.threshold,credential.refused, or none', orNone(list))
    .action(async (text: string, { events }: { readonly events: OrNone<readonly string[]> }) => {
      const run = begin();
      const client = await run.client();
      const userId = text === 'me' ? (await whoIs(client)).user?.id : await findMember(client, text);
      if (userId === undefined) throw usage('a management token is nobody: which member?', 'acg members ls');
      // The API knows which there are, and says so.
      const body = { events: [...(nullIfNone(events) ?? [])] as never[] };
      const answer = await client.put('/v1/event-mail/{userId}', { params: { path: { userId } }, body });
      const { email, events: chosen } = answer.preference;
      run.show(answer, () => run.done(`${email}: ${chosen.join(', ') || 'no mail'}`));
    });
}

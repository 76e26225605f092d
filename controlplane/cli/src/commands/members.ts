/** `acg members`: the people of the organization. */
import { Argument, type Command, Option } from 'commander';
import { findMember } from '../api/members.js';
import { confirmed } from '../terminal/ask.js';
import { day } from '../terminal/format.js';
import { noteRest, type PageOptions, paged, pageOf } from './options.js';
import type { Tree } from './tree.js';

const ROLES = ['viewer', 'member', 'admin', 'owner'] as const;
type Role = (typeof ROLES)[number];
const NAMED = ['<member>', 'e-mail or id'] as const;

export function memberCommands(group: Command, { begin }: Tree): void {
  paged(group.command('ls').description('list them, and who is invited')).action(async (options: PageOptions) => {
    const run = begin();
    const answer = await (await run.client()).get('/v1/members', { params: { query: pageOf(options) } });
    run.show(answer, () =>
      run.table(
        [
          { title: 'E-MAIL', cell: ({ email }) => email },
          { title: 'NAME', cell: ({ name }) => name ?? '–' },
          { title: 'ROLE', cell: ({ role }) => role },
          { title: 'STATUS', cell: ({ status }) => status },
          { title: 'SINCE', cell: ({ createdAt }) => day(createdAt) },
        ],
        answer.members,
      ),
    );
    noteRest(run, answer.members.length, answer);
  });
  group
    .command('invite')
    .description('invite somebody by mail')
    .argument('<email>', 'the address')
    .addOption(new Option('--role <role>', 'what they may do').choices(ROLES).default('member'))
    .action(async (email: string, { role }: { role: Role }) => {
      const run = begin();
      const answer = await (await run.client()).post('/v1/members', { body: { email, role } });
      run.show(answer, () => run.done(`${answer.member.email} is invited as ${answer.member.role}`));
      noteInvitation(run, answer.invitationUrl);
    });
  group
    .command('resend')
    .description('send an invitation again')
    .argument(...NAMED)
    .action(async (text: string) => {
      const run = begin();
      const client = await run.client();
      const userId = await findMember(client, text);
      const answer = await client.post('/v1/members/{userId}/resend', { params: { path: { userId } } });
      run.show(answer, () => run.done(`${answer.member.email} is invited again`));
      noteInvitation(run, answer.invitationUrl);
    });
  group
    .command('role')
    .description('give a member another role')
    .argument(...NAMED)
    .addArgument(new Argument('<role>', 'what they may do').choices(ROLES))
    .action(async (text: string, role: Role) => {
      const run = begin();
      const client = await run.client();
      const userId = await findMember(client, text);
      const answer = await client.patch('/v1/members/{userId}', { params: { path: { userId } }, body: { role } });
      run.show(answer, () => run.done(`${answer.member.email} is ${answer.member.role}`));
    });
  group
    .command('rm')
    .description('remove a member, or take an invitation back')
    .argument(...NAMED)
    .action(async (text: string) => {
      const run = begin();
      const client = await run.client();
      const userId = await findMember(client, text);
      await confirmed(run, `Remove ${text} from the organization at ${run.settings.url}?`);
      const answer = await client.delete('/v1/members/{userId}', { params: { path: { userId } } });
      run.show(answer, () => run.done(`${text} is removed`));
    });
}

function noteInvitation(run: { note(line: string): void }, url: string | null): void {
  if (url !== null) run.note(`mail stays on the server, so hand the link over yourself: ${url}`);
}

/** `acg members`: manages members and invitations of the organization. */
import { Argument, type Command, Option } from 'commander';
import { findMemberId } from '../../api/find-member.js';
import type { CommandContext } from '../../invocation/command-context.js';
import { addPageOptions, type PageOptions, printRemainingRows, toPageQuery } from '../../options/parse-options.js';
import { formatDay } from '../../terminal/format.js';
import { requireConfirmation } from '../../terminal/prompt.js';

const ROLES = ['viewer', 'member', 'admin', 'owner'] as const;
type Role = (typeof ROLES)[number];
const MEMBER_ARGUMENT = ['<member>', 'e-mail or id'] as const;

export function registerMemberCommands(group: Command, { begin }: CommandContext): void {
  addPageOptions(group.command('ls').description('list members and invitations')).action(
    async (options: PageOptions) => {
      const run = begin();
      const answer = await (await run.getClient()).get('/v1/members', { params: { query: toPageQuery(options) } });
      run.printResult(answer, () =>
        run.printTable(
          [
            { title: 'E-MAIL', cell: ({ email }) => email },
            { title: 'NAME', cell: ({ name }) => name ?? '–' },
            { title: 'ROLE', cell: ({ role }) => role },
            { title: 'STATUS', cell: ({ status }) => status },
            { title: 'SINCE', cell: ({ createdAt }) => formatDay(createdAt) },
          ],
          answer.members,
        ),
      );
      printRemainingRows(run, answer.members.length, answer);
    },
  );
  group
    .command('invite')
    .description('invite a user by e-mail')
    .argument('<email>', 'the address')
    .addOption(new Option('--role <role>', 'what they may do').choices(ROLES).default('member'))
    .action(async (email: string, { role }: { role: Role }) => {
      const run = begin();
      const answer = await (await run.getClient()).post('/v1/members', { body: { email, role } });
      run.printResult(answer, () => run.printSuccess(`${answer.member.email} is invited as ${answer.member.role}`));
      printInvitationUrl(run, answer.invitationUrl);
    });
  group
    .command('resend')
    .description('resend an invitation')
    .argument(...MEMBER_ARGUMENT)
    .action(async (text: string) => {
      const run = begin();
      const client = await run.getClient();
      const userId = await findMemberId(client, text);
      const answer = await client.post('/v1/members/{userId}/resend', { params: { path: { userId } } });
      run.printResult(answer, () => run.printSuccess(`${answer.member.email} is invited again`));
      printInvitationUrl(run, answer.invitationUrl);
    });
  group
    .command('role')
    .description('change the role of a member')
    .argument(...MEMBER_ARGUMENT)
    .addArgument(new Argument('<role>', 'what they may do').choices(ROLES))
    .action(async (text: string, role: Role) => {
      const run = begin();
      const client = await run.getClient();
      const userId = await findMemberId(client, text);
      const answer = await client.patch('/v1/members/{userId}', { params: { path: { userId } }, body: { role } });
      run.printResult(answer, () => run.printSuccess(`${answer.member.email} is ${answer.member.role}`));
    });
  group
    .command('rm')
    .description('remove a member or revoke an invitation')
    .argument(...MEMBER_ARGUMENT)
    .action(async (text: string) => {
      const run = begin();
      const client = await run.getClient();
      const userId = await findMemberId(client, text);
      await requireConfirmation(run, `Remove ${text} from the organization at ${run.settings.url}?`);
      const answer = await client.delete('/v1/members/{userId}', { params: { path: { userId } } });
      run.printResult(answer, () => run.printSuccess(`${text} is removed`));
    });
}

function printInvitationUrl(run: { printNote(line: string): void }, url: string | null): void {
  if (url !== null) run.printNote(`mail stays on the server, so hand the link over yourself: ${url}`);
}

/** `acg members`: manages members and invitations of the organization. */
import { findMemberId } from '../../api/find-member.js';
import type { Invocation } from '../../invocation/invocation.js';
import { choiceField, defaultField, textField } from '../../options/field.js';
import { formatDay } from '../../terminal/format-numbers-and-times.js';
import type { Target } from '../descriptors/operation-target-from-arguments.js';
import { listCommand } from '../descriptors/register-list-commands.js';
import { commandGroup, operationCommand } from '../descriptors/register-operation-commands.js';

const ROLES = ['viewer', 'member', 'admin', 'owner'] as const;
const MEMBER: Target = {
  argument: ['<member>', 'e-mail or id'],
  find: async (run, text) => ({ id: await findMemberId(await run.getClient(), text) }),
};

export const registerMemberCommands = commandGroup(
  listCommand({
    description: 'list members and invitations',
    operation: 'GET /v1/members',
    rows: 'members',
    columns: [
      { title: 'E-MAIL', cell: ({ email }) => email },
      { title: 'NAME', cell: ({ name }) => name ?? '–' },
      { title: 'ROLE', cell: ({ role }) => role },
      { title: 'STATUS', cell: ({ status }) => status },
      { title: 'SINCE', cell: ({ createdAt }) => formatDay(createdAt) },
    ],
  }),
  operationCommand({
    name: 'invite',
    description: 'invite a user by e-mail',
    operation: 'POST /v1/members',
    fields: {
      email: textField('<email>', 'the address'),
      role: defaultField(choiceField('--role <role>', 'what they may do', ROLES), 'member'),
    },
    print: (run, { member }) => run.printSuccess(`${member.email} is invited as ${member.role}`),
    after: printInvitationUrl,
  }),
  operationCommand({
    name: 'resend',
    description: 'resend an invitation',
    operation: 'POST /v1/members/{userId}/resend',
    target: MEMBER,
    print: (run, { member }) => run.printSuccess(`${member.email} is invited again`),
    after: printInvitationUrl,
  }),
  operationCommand({
    name: 'role',
    description: 'change the role of a member',
    operation: 'PATCH /v1/members/{userId}',
    target: MEMBER,
    fields: { role: choiceField('<role>', 'what they may do', ROLES) },
    print: (run, { member }) => run.printSuccess(`${member.email} is ${member.role}`),
  }),
  operationCommand({
    name: 'rm',
    description: 'remove a member or revoke an invitation',
    operation: 'DELETE /v1/members/{userId}',
    target: MEMBER,
    confirm: ({ text, at }) => `Remove ${text} from the organization ${at}?`,
    print: (run, _response, { text }) => run.printSuccess(`${text} is removed`),
  }),
);

function printInvitationUrl(run: Invocation, { invitationUrl }: { readonly invitationUrl: string | null }): void {
  if (invitationUrl !== null)
    run.printNote(`mail stays on the server, so hand the link over yourself: ${invitationUrl}`);
}

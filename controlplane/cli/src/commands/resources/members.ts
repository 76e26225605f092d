/** `acg members`: manages members and invitations of the organization. */
import { Option } from 'commander';
import { findMemberId } from '../../api/find-member.js';
import type { Invocation } from '../../invocation/invocation.js';
import { choiceField, defaultField, textField } from '../../options/field.js';
import { formatAgo, formatDay } from '../../terminal/format-numbers-and-times.js';
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
      { title: 'LAST ACTIVE', cell: ({ lastSeenAt }) => formatAgo(lastSeenAt, Date.now()) },
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
    name: 'created',
    description: 'list what a member created: gateway tokens, webhooks, management tokens',
    operation: 'GET /v1/members/{userId}/created',
    target: MEMBER,
    print: (run, { items }) =>
      run.printTable(
        [
          { title: 'TYPE', cell: ({ kind }) => kind },
          { title: 'NAME', cell: ({ name }) => name },
          { title: 'DETAIL', cell: ({ detail }) => detail },
          { title: 'CREATED', cell: ({ createdAt }) => formatDay(createdAt) },
          { title: 'ID', cell: ({ id }) => id },
        ],
        items,
      ),
  }),
  listCommand({
    name: 'sessions',
    description: 'list the sessions of a member in this organization',
    operation: 'GET /v1/members/{userId}/sessions',
    target: MEMBER,
    rows: 'sessions',
    columns: [
      { title: 'TYPE', cell: ({ kind }) => kind },
      { title: 'PROGRAM', cell: ({ userAgent }) => userAgent },
      { title: 'ADDRESS', cell: ({ ip }) => ip },
      { title: 'LAST ACTIVE', cell: ({ lastSeenAt }) => formatAgo(lastSeenAt, Date.now()) },
      { title: 'ID', cell: ({ id }) => id },
    ],
  }),
  operationCommand({
    name: 'end-sessions',
    description: 'end all sessions of a member in this organization',
    operation: 'DELETE /v1/members/{userId}/sessions',
    target: MEMBER,
    confirm: ({ text, at }) => `End all sessions of ${text} ${at}?`,
    print: (run, _response, { text }) => run.printSuccess(`${text} is logged out`),
  }),
  operationCommand({
    name: 'rm',
    description: 'remove a member or revoke an invitation',
    operation: 'DELETE /v1/members/{userId}',
    target: MEMBER,
    options: [
      new Option(
        '--revoke-created',
        'also revoke the gateway tokens and webhooks that the member created (acg members created)',
      ),
    ],
    query: ({ options }) => (options.revokeCreated === true ? { revoke: 'created' } : {}),
    confirm: ({ text, at }) => `Remove ${text} from the organization ${at}?`,
    print: (run, _response, { text }) => run.printSuccess(`${text} is removed`),
  }),
);

function printInvitationUrl(run: Invocation, { invitationUrl }: { readonly invitationUrl: string | null }): void {
  if (invitationUrl !== null)
    run.printNote(`mail stays on the server, so hand the link over yourself: ${invitationUrl}`);
}

/** `acg event-mail`: manages which members get e-mail about which events. */

import type { BodyOf } from '../../api/call-api-operation.js';
import { findMemberId } from '../../api/find-member.js';
import { fetchIdentity } from '../../api/identity.js';
import type { Invocation } from '../../invocation/invocation.js';
import { mapField, parsedOrNoneField, requiredField } from '../../options/field.js';
import { parseList } from '../../options/page-options-and-value-parsers.js';
import { usage } from '../../terminal/cli-error.js';
import { listCommand } from '../descriptors/register-list-commands.js';
import { commandGroup, operationCommand } from '../descriptors/register-operation-commands.js';

type Events = BodyOf<'PUT /v1/event-mail/{userId}'>['events'];

export const registerEventMailCommands = commandGroup(
  listCommand({
    description: 'list members and their events',
    operation: 'GET /v1/event-mail',
    rows: 'preferences',
    columns: [
      { title: 'E-MAIL', cell: ({ email, emailVerified }) => (emailVerified ? email : `${email} (not confirmed)`) },
      { title: 'EVENTS', cell: ({ events }) => events.join(' ') || '–' },
    ],
  }),
  operationCommand({
    name: 'set',
    description: 'set the events that a member gets e-mail about',
    operation: 'PUT /v1/event-mail/{userId}',
    target: { argument: ['<member>', 'e-mail or id, or me'], find: findMember },
    fields: {
      // The API validates the names and lists the valid ones.
      events: mapField(
        requiredField(
          parsedOrNoneField('--events <events>', 'e.g. usage.threshold,credential.refused, or none', parseList),
        ),
        (events) => (events ?? []) as Events,
      ),
    },
    print: (run, { preference: { email, events } }) => run.printSuccess(`${email}: ${events.join(', ') || 'no mail'}`),
  }),
);

async function findMember(run: Invocation, text: string): Promise<{ readonly id: string }> {
  const client = await run.getClient();
  const id = text === 'me' ? (await fetchIdentity(client)).user?.id : await findMemberId(client, text);
  if (id === undefined) throw usage('a management token is nobody: which member?', 'acg members ls');
  return { id };
}

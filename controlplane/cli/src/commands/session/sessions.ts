/** `acg sessions`: lists and revokes the sessions of this user. */

import { textField } from '../../options/field.js';
import { formatAgo, formatDay } from '../../terminal/format-numbers-and-times.js';
import { idTarget } from '../descriptors/operation-target-from-arguments.js';
import { listCommand } from '../descriptors/register-list-commands.js';
import { commandGroup, operationCommand } from '../descriptors/register-operation-commands.js';

export const registerSessionCommands = commandGroup(
  listCommand({
    description: 'list sessions',
    operation: 'GET /v1/sessions',
    rows: 'sessions',
    columns: [
      { title: 'SESSION', cell: ({ id, current }) => `${current ? '* ' : '  '}${id}`, toCopy: true },
      { title: 'KIND', cell: ({ kind, roleMax }) => (roleMax === null ? kind : `${kind} (${roleMax})`) },
      { title: 'IP', cell: ({ ip }) => ip },
      { title: 'PROGRAM', cell: ({ userAgent }) => userAgent },
      { title: 'LAST SEEN', cell: ({ lastSeenAt }) => formatAgo(lastSeenAt, Date.now()) },
      { title: 'EXPIRES', cell: ({ expiresAt }) => formatDay(expiresAt) },
    ],
  }),
  operationCommand({
    name: 'confirm',
    description: 'confirm this session with a code of the second factor, for what cannot be undone',
    operation: 'POST /v1/second-factor/verify',
    fields: { code: textField('<code>', 'of the authenticator app, or a recovery code') },
    print: (run) => run.printSuccess('confirmed for 10 minutes'),
  }),
  operationCommand({
    name: 'end',
    description: 'revoke a session',
    operation: 'DELETE /v1/sessions/{id}',
    target: idTarget('<session>', 'id of the session'),
    confirm: ({ text, at }) => `End the session ${text} ${at}?`,
    print: (run, _response, { text }) => run.printSuccess(`${text} has ended`),
  }),
  operationCommand({
    name: 'end-others',
    description: 'revoke all other sessions',
    operation: 'DELETE /v1/sessions',
    confirm: ({ at }) => `End all other sessions of this user ${at}?`,
    print: (run) => run.printSuccess('all other sessions have ended'),
  }),
);

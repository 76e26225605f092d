/**
 * `acg suspended`: reviews resources that were created before the founder of the organization verified the account's
 * e-mail address.
 */
import { formatDay } from '../../terminal/format-numbers-and-times.js';
import { idTarget } from '../descriptors/operation-target-from-arguments.js';
import { listCommand } from '../descriptors/register-list-commands.js';
import { commandGroup, operationCommand } from '../descriptors/register-operation-commands.js';

const ITEM = idTarget('<id>', 'of acg suspended ls');

export const registerSuspendedCommands = commandGroup(
  listCommand({
    description: 'list items that need a review',
    operation: 'GET /v1/suspended-items',
    rows: 'items',
    columns: [
      { title: 'KIND', cell: ({ kind }) => kind },
      { title: 'NAME', cell: ({ name }) => name },
      { title: 'DETAIL', cell: ({ detail }) => detail },
      { title: 'CREATED', cell: ({ createdAt }) => formatDay(createdAt) },
      { title: 'ID', cell: ({ id }) => id, toCopy: true },
    ],
  }),
  operationCommand({
    name: 'keep',
    description: 'restore an item',
    operation: 'POST /v1/suspended-items/{id}/keep',
    target: ITEM,
    print: (run, { item }) => run.printSuccess(`${item.name} works again`),
  }),
  operationCommand({
    name: 'revoke',
    description: 'delete an item permanently',
    operation: 'DELETE /v1/suspended-items/{id}',
    target: ITEM,
    confirm: ({ text, at }) => `Revoke the suspended item ${text} ${at}?`,
    print: (run, _response, { text }) => run.printSuccess(`${text} is revoked`),
  }),
);

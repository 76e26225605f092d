/** `acg tokens`: manages management tokens, with which programs call /v1. */

import { fetchAllRows } from '../../api/call-api-operation.js';
import { isUuid, selectByName } from '../../api/find-by-name.js';
import type { Invocation } from '../../invocation/invocation.js';
import { expiryField } from '../../options/expiry-and-grace-fields.js';
import { choiceField, defaultField, requiredField, textField } from '../../options/field.js';
import { onlyProjectIdField } from '../../options/lookup-fields.js';
import { formatAgo, formatDay } from '../../terminal/format-numbers-and-times.js';
import { listCommand } from '../descriptors/register-list-commands.js';
import { commandGroup, operationCommand } from '../descriptors/register-operation-commands.js';

export const registerTokenCommands = commandGroup(
  listCommand({
    description: 'list management tokens',
    operation: 'GET /v1/management-tokens',
    rows: 'tokens',
    columns: [
      { title: 'TOKEN', cell: ({ tokenPrefix }) => tokenPrefix },
      { title: 'NAME', cell: ({ name }) => name },
      { title: 'ROLE', cell: ({ role }) => role },
      { title: 'PROJECT', cell: ({ projectId }) => projectId ?? 'all' },
      { title: 'LAST USED', cell: ({ lastUsedAt }) => formatAgo(lastUsedAt, Date.now()) },
      { title: 'EXPIRES', cell: ({ expiresAt }) => formatDay(expiresAt) },
      { title: 'ID', cell: ({ id }) => id },
    ],
  }),
  operationCommand({
    name: 'create',
    description: 'create a management token; prints only the token, once, on stdout',
    operation: 'POST /v1/management-tokens',
    fields: {
      name: requiredField(textField('--name <name>', 'what it is for')),
      role: defaultField(choiceField('--role <role>', 'what it may do', ['viewer', 'member', 'admin']), 'viewer'),
      projectId: onlyProjectIdField('it sees and changes this one only'),
      expiresAt: expiryField('when it ends, e.g. 90d; never, if left out'),
    },
    print: (run, { secretToken }) => run.printLine(secretToken),
    after: (run, { token: { id, expiresAt } }) =>
      run.printNote(`shown once; expires ${formatDay(expiresAt)}; revoke: acg tokens revoke ${id}`),
  }),
  operationCommand({
    name: 'revoke',
    description: 'revoke a management token',
    operation: 'DELETE /v1/management-tokens/{id}',
    target: { argument: ['<token>', 'id, prefix or name'], find: findToken },
    confirm: ({ text, at }) => `Revoke the management token ${text} ${at}?`,
    print: (run, _response, { text }) => run.printSuccess(`${text} is revoked`),
  }),
);

async function findToken(run: Invocation, text: string): Promise<{ readonly id: string }> {
  if (isUuid(text)) return { id: text };
  const tokens = await fetchAllRows(await run.getClient(), 'GET /v1/management-tokens', 'tokens');
  const byPrefix = tokens.find(({ tokenPrefix }) => tokenPrefix === text);
  return byPrefix ?? selectByName(tokens, text, 'token', 'acg tokens ls');
}

/** `acg scim`: SCIM tokens, with which the organization's directory admits and removes its members. */
import { isUuid, selectByName } from '../../api/find-by-name.js';
import type { Invocation } from '../../invocation/invocation.js';
import { requiredField, textField } from '../../options/field.js';
import { formatAgo, formatDay } from '../../terminal/format-numbers-and-times.js';
import { commandGroup, operationCommand } from '../descriptors/register-operation-commands.js';

export const registerScimCommands = commandGroup(
  operationCommand({
    name: 'show',
    description: 'show the address for the directory, its tokens and the number of its people',
    operation: 'GET /v1/scim',
    print(run, { baseUrl, users, activeUsers, members, groups, tokens }) {
      run.printFields({
        address: baseUrl,
        people: `${users} (${activeUsers} active, ${members} members)`,
        groups: String(groups),
      });
      run.printTable(
        [
          { title: 'TOKEN', cell: ({ tokenPrefix }) => tokenPrefix },
          { title: 'NAME', cell: ({ name }) => name },
          { title: 'LAST USED', cell: ({ lastUsedAt }) => formatAgo(lastUsedAt, Date.now()) },
          { title: 'CREATED', cell: ({ createdAt }) => formatDay(createdAt) },
          { title: 'ID', cell: ({ id }) => id },
        ],
        tokens,
      );
    },
  }),
  operationCommand({
    name: 'create',
    description: 'create a SCIM token; prints only the token, once, on stdout',
    operation: 'POST /v1/scim/tokens',
    fields: { name: requiredField(textField('--name <name>', 'the directory that uses it')) },
    print: (run, { secretToken }) => run.printLine(secretToken),
    after: (run, { token: { id } }) => run.printNote(`shown once; revoke: acg scim revoke ${id}`),
  }),
  operationCommand({
    name: 'revoke',
    description: 'revoke a SCIM token',
    operation: 'DELETE /v1/scim/tokens/{id}',
    target: { argument: ['<token>', 'id, prefix or name'], find: findToken },
    confirm: ({ text, at }) => `Revoke the SCIM token ${text} ${at}?`,
    print: (run, _response, { text }) => run.printSuccess(`${text} is revoked`),
  }),
);

async function findToken(run: Invocation, text: string): Promise<{ readonly id: string }> {
  if (isUuid(text)) return { id: text };
  const { tokens } = await (await run.getClient()).get('/v1/scim');
  const byPrefix = tokens.find(({ tokenPrefix }) => tokenPrefix === text);
  return byPrefix ?? selectByName(tokens, text, 'token', 'acg scim show');
}

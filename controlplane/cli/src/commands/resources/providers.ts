/** `acg providers`: lists the built-in providers, and tests a credential of one. */

import { assertCredentialAccepted, formatCredentialTest } from '../../api/credential-test-result.js';
import { CREDENTIAL_OPTIONS, readOptionCredentials } from '../../options/credential-options.js';
import { textField } from '../../options/field.js';
import { listCommand } from '../descriptors/register-list-commands.js';
import { commandGroup, operationCommand } from '../descriptors/register-operation-commands.js';

export const registerProviderCommands = commandGroup(
  listCommand({
    description: 'list built-in providers and their credential fields',
    operation: 'GET /v1/providers',
    rows: 'providers',
    columns: [
      { title: 'PROVIDER', cell: ({ slug }) => slug },
      { title: 'NAME', cell: ({ displayName }) => displayName },
      { title: 'CATEGORY', cell: ({ category }) => category ?? '' },
      {
        title: 'CREDENTIALS',
        cell: ({ credentialFields }) =>
          credentialFields.map(({ name, required }) => (required ? name : `[${name}]`)).join(' '),
      },
      { title: 'DOCS', cell: ({ docs }) => docs ?? '' },
    ],
  }),
  operationCommand({
    name: 'test',
    description: 'test a credential of yours with one call of the gateway, without storing it',
    operation: 'POST /v1/providers/accounts/test',
    fields: { providerSlug: textField('<provider>', 'its slug, e.g. openai') },
    options: CREDENTIAL_OPTIONS,
    body: async (run, { text, options }) => ({ credentials: await readOptionCredentials(run, text, options) }),
    print: (run, result, { text }) => run.printLine(formatCredentialTest(text, result)),
    after: (_run, result, { text }) => assertCredentialAccepted(text, result),
  }),
);

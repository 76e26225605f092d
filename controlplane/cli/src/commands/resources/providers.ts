/** `acg providers`: lists the built-in providers. */
import { listCommand } from '../descriptors/register-list-commands.js';

export const registerProviderCommands = listCommand({
  description: 'list built-in providers and their credential fields',
  operation: 'GET /v1/providers',
  rows: 'providers',
  columns: [
    { title: 'PROVIDER', cell: ({ slug }) => slug },
    { title: 'NAME', cell: ({ displayName }) => displayName },
    {
      title: 'CREDENTIALS',
      cell: ({ credentialFields }) =>
        credentialFields.map(({ name, required }) => (required ? name : `[${name}]`)).join(' '),
    },
  ],
});

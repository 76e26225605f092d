/** `acg personal-agents`: the user's personal agents, which `acg run --personal` uses. */
import { isUuid } from '../../api/find-by-name.js';
import { findPersonalAgentProject } from '../../api/find-personal-agent.js';
import { mapField, textField } from '../../options/field.js';
import { parseDuration } from '../../options/parse-duration.js';
import { usage } from '../../terminal/cli-error.js';
import { listCommand } from '../descriptors/register-list-commands.js';
import { commandGroup, operationCommand } from '../descriptors/register-operation-commands.js';

const SECOND_MS = 1_000;

export const registerPersonalAgentCommands = commandGroup(
  listCommand({
    description: 'list the projects that allow personal agents, and your personal agents',
    operation: 'GET /v1/personal-agents',
    rows: 'personalAgents',
    columns: [
      { title: 'PROJECT', cell: ({ projectSlug }) => projectSlug },
      { title: 'AGENT', cell: ({ agent }) => agent?.slug ?? '–' },
      { title: 'STATUS', cell: ({ agent }) => agent?.status ?? '–' },
      { title: 'AGENT ID', cell: ({ agent }) => agent?.id ?? '–' },
    ],
  }),
  operationCommand({
    name: 'create-key',
    description: 'create a gateway token of your personal agent; prints only the token, once, on stdout',
    operation: 'POST /v1/personal-agents/keys',
    fields: {
      name: textField('<name>', 'what uses it'),
      lifetimeSeconds: mapField(textField('--ttl <span>', 'how long it lives, 1m to 30d; 12h, if left out'), (text) =>
        Math.ceil(parseDuration(text, '--ttl') / SECOND_MS),
      ),
    },
    body: async (run) => ({ projectId: (await findPersonalAgentProject(run)).projectId }),
    print: (run, { secretKey }) => run.printLine(secretKey),
    after: (run, { key: { id } }) => run.printNote(`shown once; revoke: acg personal-agents revoke-key ${id}`),
  }),
  operationCommand({
    name: 'revoke-key',
    description: 'revoke a gateway token of your personal agent',
    operation: 'DELETE /v1/personal-agents/keys/{id}',
    target: {
      argument: ['<key>', 'id of the token'],
      find: async (_run, id) => {
        if (!isUuid(id)) throw usage(`${JSON.stringify(id)} is no id of a key`, 'acg keys ls');
        return { id };
      },
    },
    confirm: ({ text, at }) => `Revoke the key ${text} ${at}?`,
    print: (run, _response, { text }) => run.printSuccess(`${text} is revoked`),
  }),
);

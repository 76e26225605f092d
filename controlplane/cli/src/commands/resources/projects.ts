/** `acg projects`: manages projects. */
import { fetchAllRows } from '../../api/call-api-operation.js';
import { findProjectId, selectByName } from '../../api/find-by-name.js';
import { type Field, mapField, parsedOrNoneField, textField } from '../../options/field.js';
import { parseDollarsAsCents, parseList } from '../../options/page-options-and-value-parsers.js';
import { formatCents, formatDay } from '../../terminal/format-numbers-and-times.js';
import type { Target } from '../descriptors/operation-target-from-arguments.js';
import { listCommand } from '../descriptors/register-list-commands.js';
import { commandGroup, operationCommand } from '../descriptors/register-operation-commands.js';

const PROJECT: Target = {
  argument: ['<project>', 'name, slug or id'],
  find: async (run, text) => ({ id: await findProjectId(await run.getClient(), text) }),
};
const formatBudget = (cents: number | null): string => (cents === null ? '–' : formatCents(cents));

/** Names of shared credentials → the setting; an empty list allows agents without accounts. */
const personalAgentsField: Field<{ credentialIds: string[] } | null> = mapField(
  parsedOrNoneField(
    '--personal-agents <credentials>',
    "allow personal agents, with these shared credentials (names, e.g. OpenAI,Groq; '' for none of them); none ends them",
    (text) => (text === '' ? [] : parseList(text)),
  ),
  async (names, run) => {
    if (names === null) return null;
    const known =
      names.length === 0 ? [] : await fetchAllRows(await run.getClient(), 'GET /v1/credentials', 'credentials');
    return {
      credentialIds: names.map((name) => selectByName(known, name, 'shared credential', 'acg credentials ls').id),
    };
  },
);

export const registerProjectCommands = commandGroup(
  listCommand({
    description: 'list projects',
    operation: 'GET /v1/projects',
    rows: 'projects',
    columns: [
      { title: 'PROJECT', cell: ({ slug }) => slug },
      { title: 'NAME', cell: ({ name }) => name },
      { title: 'BUDGET', cell: ({ budgetCentsMonthly }) => formatBudget(budgetCentsMonthly), alignRight: true },
      { title: 'CREATED', cell: ({ createdAt }) => formatDay(createdAt) },
      { title: 'ID', cell: ({ id }) => id },
    ],
  }),
  operationCommand({
    name: 'get',
    description: 'show a project',
    operation: 'GET /v1/projects/{id}',
    target: PROJECT,
    print: (run, { project: { slug, name, id, budgetCentsMonthly, personalAgents, createdAt } }) =>
      run.printFields({
        project: slug,
        name,
        id,
        budget: formatBudget(budgetCentsMonthly),
        'personal agents': personalAgents === null ? 'not allowed' : 'allowed',
        created: createdAt,
      }),
  }),
  operationCommand({
    name: 'create',
    description: 'create a project',
    operation: 'POST /v1/projects',
    fields: { name: textField('<name>', 'name of the project') },
    print: (run, { project }) => run.printSuccess(`${project.slug}  ${project.id}`),
  }),
  operationCommand({
    name: 'set',
    description: 'change a project',
    operation: 'PATCH /v1/projects/{id}',
    target: PROJECT,
    fields: {
      name: textField('--name <name>', 'name of the project'),
      budgetCentsMonthly: parsedOrNoneField(
        '--budget <usd>',
        'US dollars per month for all agents of the project, or none',
        parseDollarsAsCents,
      ),
      personalAgents: personalAgentsField,
    },
    print: (run, { project }) => run.printSuccess(project.slug),
  }),
  operationCommand({
    name: 'rm',
    description: 'delete a project without agents',
    operation: 'DELETE /v1/projects/{id}',
    target: PROJECT,
    confirm: ({ text, at }) => `Delete the project ${text} ${at}?`,
    print: (run, _response, { text }) => run.printSuccess(`${text} is deleted`),
  }),
);

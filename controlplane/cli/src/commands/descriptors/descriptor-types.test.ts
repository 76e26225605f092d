/** A descriptor that does not fit the API document does not compile: `tsc` checks the lines marked below. */
import { expect, test } from 'vitest';
import { choiceField, textField } from '../../options/field.js';
import { idTarget } from './operation-target-from-arguments.js';
import { listCommand } from './register-list-commands.js';
import { operationCommand } from './register-operation-commands.js';

const COMMAND = { name: 'x', description: '', print: () => {} };
const target = idTarget('<id>', '');
const PROJECT = { ...COMMAND, operation: 'PATCH /v1/projects/{id}', target } as const;
const LIST = { description: '', operation: 'GET /v1/projects', rows: 'projects', columns: [] } as const;
const nameField = textField('--name <name>', '');
const roleField = choiceField('--role <role>', '', ['viewer']);

const DESCRIPTORS = [
  operationCommand({ ...PROJECT, fields: { name: nameField } }),
  // @ts-expect-error a field that the API does not have
  operationCommand({ ...PROJECT, fields: { title: nameField } }),
  // @ts-expect-error a value of another type
  operationCommand({ ...PROJECT, fields: { budgetCentsMonthly: nameField } }),
  // @ts-expect-error no such operation
  operationCommand({ ...PROJECT, operation: 'PUT /v1/projects/{id}' }),
  // @ts-expect-error no resource for the path
  operationCommand({ ...COMMAND, operation: 'DELETE /v1/projects/{id}' }),
  operationCommand({ ...COMMAND, operation: 'POST /v1/members', fields: { role: roleField, email: nameField } }),
  // @ts-expect-error the required e-mail address is missing
  operationCommand({ ...COMMAND, operation: 'POST /v1/members', fields: { role: roleField } }),
  listCommand({ ...LIST, columns: [{ title: 'NAME', cell: ({ name }) => name }] }),
  // @ts-expect-error a column that the rows do not have
  listCommand({ ...LIST, columns: [{ title: 'NAME', cell: ({ title }) => title }] }),
  // @ts-expect-error a filter that the query does not have
  listCommand({ ...LIST, filters: { owner: nameField } }),
  // @ts-expect-error rows that the response does not have
  listCommand({ ...LIST, rows: 'agents' }),
  // @ts-expect-error the list cannot be limited to a project
  listCommand({ ...LIST, inProject: true }),
];

test('every descriptor registers a command', () => {
  expect(DESCRIPTORS.map((register) => typeof register)).toEqual(DESCRIPTORS.map(() => 'function'));
});

/**
 * Validates the values of a plan against the API document of the gateway, before the first change. A wrong value then
 * changes nothing, and `--dry-run` finds it.
 */
import type { Client } from '@acg/client/typed-api-client-throwing-errors';
import { Ajv2020 as Ajv, type ErrorObject } from 'ajv/dist/2020.js';
import { usage } from '../terminal/cli-error.js';
import type { CredentialSources, Fields, ProjectSpec } from './config-document.js';
import { newValues } from './new-values.js';
import { isPersonal, type OrgState } from './org-state.js';
import type { Change, RowType } from './plan-changes.js';
import { listSettingCredentials, validatePersonalSetting } from './validate-personal-agents.js';

/** Schemas of the API document. A new project gets its budget by an update. */
const UPDATE_SCHEMAS: Readonly<Record<Exclude<RowType, 'sharedCredential'>, string>> = {
  organization: 'OrganizationPatch',
  project: 'ProjectPatch',
  agent: 'AgentPatch',
  account: 'AccountPatch',
  customProvider: 'CustomProviderPut',
  webhook: 'EndpointPatch',
  trustRule: 'TrustRulePatch',
};
const CREATE_SCHEMAS = {
  project: 'ProjectPatch',
  agent: 'AgentPatch',
  customProvider: 'CustomProviderInput',
  webhook: 'EndpointInput',
} as const;

export async function validateChanges(client: Client, changes: readonly Change[], state: OrgState): Promise<void> {
  const response = await client.send('GET', '/v1/openapi.json');
  const { components } = (await response.json()) as { readonly components: object };
  const ajv = new Ajv({ strict: false, validateFormats: false });
  const check = (schema: string, { type, name }: Change, fields: Fields): void => {
    const id = `acg:${schema}`;
    const validate = ajv.getSchema(id) ?? ajv.compile({ $id: id, components, $ref: `#/components/schemas/${schema}` });
    if (!validate(fields)) throw usage(`${type} ${name}: ${describeError(validate.errors![0]!)}`);
  };
  const slugs = new Set(state.providers.map(({ slug }) => slug));
  for (const change of changes)
    if (change.action === 'create' && change.type === 'customProvider') slugs.add(change.name);
  const shared = new Set(state.sharedCredentials.map(({ name }) => name));
  const settingCredentials = listSettingCredentials(changes, state);
  const projects = new Set(state.projects.map(({ name }) => name));
  const agents = new Set(
    state.projects.flatMap(({ name, agents: list }) =>
      list.filter((agent) => !isPersonal(agent)).map((agent) => `${name} / ${agent.name}`),
    ),
  );
  for (const change of changes)
    if (change.action === 'create' && change.type === 'agent') agents.add(`${change.project} / ${change.name}`);
  for (const change of changes) {
    if (change.action === 'delete') continue;
    if (change.action === 'personalAgents') {
      const setting = newValues(change.fields).personalAgents as ProjectSpec['personalAgents'];
      validatePersonalSetting(change.name, setting?.sharedCredentials ?? [], settingCredentials);
    } else if (change.action === 'status') check('AgentStatusInput', change, newValues(change.fields));
    else if (change.action === 'update')
      check(UPDATE_SCHEMAS[change.type as keyof typeof UPDATE_SCHEMAS], change, newValues(change.fields));
    else if (change.type === 'trustRule') {
      const { project, agent } = change.agent;
      if (!agents.has(`${project} / ${agent}`)) throw usage(`${change.name}: there is no agent ${agent} in ${project}`);
      check('TrustRuleInput', change, { agentId: UNKNOWN_ID, ...change.fields });
    } else if (change.type === 'account' || change.type === 'sharedCredential') {
      const { provider } = change.type === 'account' ? change.account : change.credential;
      if (!slugs.has(provider)) throw usage(`${change.name}: there is no provider ${provider}`, 'acg providers ls');
      if (change.type === 'sharedCredential') {
        const { project } = change.credential;
        if (project !== undefined && !projects.has(project))
          throw usage(`${change.name}: there is no project ${project}`);
        shared.add(change.name);
      } else if (change.account.sharedCredential !== undefined && !shared.has(change.account.sharedCredential))
        throw usage(`${change.name}: there is no shared credential ${change.account.sharedCredential}`);
    } else {
      const { status: _separate, ...fields } = change.fields;
      check(CREATE_SCHEMAS[change.type], change, change.type === 'webhook' ? fields : change.fields);
      if (change.type === 'project') projects.add(change.name);
    }
  }
}

/** Stands for the id of an agent that may not exist yet. */
const UNKNOWN_ID = '00000000-0000-0000-0000-000000000000';

/** Lists secrets that the document contains as text: `Support bot / openai: apiKey`. */
export function listLiteralSecrets(changes: readonly Change[], { providers }: OrgState): readonly string[] {
  return changes.flatMap((change) => {
    if (change.action !== 'create' || !(change.type === 'account' || change.type === 'sharedCredential')) return [];
    const { provider, credentials = {} }: { provider: string; credentials?: CredentialSources } =
      change.type === 'account' ? change.account : change.credential;
    const secrets =
      providers.find(({ slug }) => slug === provider)?.credentialFields.filter(({ secret }) => secret) ?? [];
    return secrets
      .filter(({ name }) => typeof credentials[name] === 'string')
      .map(({ name }) => `${change.name}: ${name}`);
  });
}

function describeError({ instancePath, message, params }: ErrorObject): string {
  const values = (params as { readonly allowedValues?: readonly unknown[] }).allowedValues;
  const problem = values === undefined ? message : `must be ${values.map(String).join(', ')}`;
  return `${instancePath.slice(1).replaceAll('/', '.')} ${problem}`.trim();
}

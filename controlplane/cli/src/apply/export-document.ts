/**
 * Writes an organization's state as a document that recreates it. Credentials are replaced by names of environment
 * variables.
 */
import { defaultOnStoreLoss, exportedBudgetFields } from './budget-fields.js';
import {
  AGENT_FIELDS,
  type ConfigDocument,
  CUSTOM_PROVIDER_FIELDS,
  DOCUMENT_VERSION,
  type Fields,
  TRUST_RULE_FIELDS,
} from './config-document.js';
import type { OrgState } from './org-state.js';

/** Those of {@link exportedBudgetFields}. */
const BUDGET_FIELDS: readonly string[] = ['budgetCentsMonthly', 'budgetMode', 'budgets'];

/** Provider slug → names of the credential fields it requires. */
type RequiredFields = Readonly<Record<string, readonly string[]>>;

export function exportDocument(
  state: OrgState,
  required: RequiredFields,
): ConfigDocument & { readonly version: number } {
  return {
    version: DOCUMENT_VERSION,
    organization: exportedBudgetFields(state.organization.fields),
    sharedCredentials: state.sharedCredentials.map(({ name, providerSlug: provider, projectId }) => ({
      name,
      provider,
      ...(projectId === null ? {} : { project: state.projects.find(({ id }) => id === projectId)!.name }),
      credentials: credentialVariables(name, provider, required[provider] ?? []),
    })),
    customProviders: state.customProviders.map(({ slug, fields }) => ({
      slug,
      ...pickFields(fields, CUSTOM_PROVIDER_FIELDS),
    })),
    projects: state.projects.map(({ name, fields, agents }) => ({
      name,
      ...exportedBudgetFields(fields),
      agents: agents.map((agent) => ({
        name: agent.name,
        status: agent.status as 'active',
        ...pickFields(
          agent.fields,
          // A value that follows from the budgets is omitted. As an explicit choice it would stay when they change.
          agent.fields.onStoreLoss === defaultOnStoreLoss(agent.fields, [fields, state.organization.fields])
            ? PLAIN_FIELDS.filter((field) => field !== 'onStoreLoss')
            : PLAIN_FIELDS,
        ),
        ...exportedBudgetFields(agent.fields),
        accounts: agent.accounts.map(({ provider, allowSensitivePaths, allowOpaque, credentialId }) => ({
          provider,
          allowSensitivePaths,
          ...(allowOpaque ? { allowOpaque } : {}),
          ...(credentialId === null
            ? { credentials: credentialVariables(agent.slug, provider, required[provider] ?? []) }
            : { sharedCredential: state.sharedCredentials.find(({ id }) => id === credentialId)!.name }),
        })),
      })),
    })),
    trustRules: state.trustRules.flatMap(({ name, agentId, issuer, fields }) => {
      const project = state.projects.find(({ agents }) => agents.some(({ id }) => id === agentId));
      const agent = project?.agents.find(({ id }) => id === agentId);
      if (project === undefined || agent === undefined) return [];
      return [{ name, project: project.name, agent: agent.name, issuer, ...pickFields(fields, TRUST_RULE_FIELDS) }];
    }),
    webhooks: state.webhooks.map(({ url, events, status }) => ({ url, events, status: status as 'active' })),
  };
}

const PLAIN_FIELDS = AGENT_FIELDS.filter((field) => !BUDGET_FIELDS.includes(field));

/** Builds `{apiKey: {env: 'SUPPORT_BOT_OPENAI_API_KEY'}}`. */
const credentialVariables = (owner: string, provider: string, fields: readonly string[]) =>
  Object.fromEntries(fields.map((field) => [field, { env: toVariableName(`${owner}_${provider}_${field}`) }]));

const toVariableName = (text: string): string =>
  text
    .replaceAll(/([a-z])([A-Z])/g, '$1_$2')
    .replaceAll(/\W/g, '_')
    .toUpperCase();

const pickFields = (from: Fields, fields: readonly string[]): Fields =>
  Object.fromEntries(fields.flatMap((field) => (Object.hasOwn(from, field) ? [[field, from[field]]] : [])));

/** An organization's state as the document that would make it. Credentials are not in it: it names variables for them. */
import { AGENT_FIELDS, CUSTOM_PROVIDER_FIELDS, type Document, type Fields, VERSION } from './document.js';
import type { AgentState, State } from './state.js';

/** Provider → names of the fields that its credentials need. */
type RequiredFields = Readonly<Record<string, readonly string[]>>;

export function asDocument(state: State, required: RequiredFields): Document & { readonly version: number } {
  return {
    version: VERSION,
    customProviders: state.customProviders.map(({ slug, fields }) => ({
      slug,
      ...pick(fields, CUSTOM_PROVIDER_FIELDS),
    })),
    projects: state.projects.map(({ name, budgetCentsMonthly, agents }) => ({
      name,
      budgetCentsMonthly,
      agents: agents.map((agent) => ({
        name: agent.name,
        status: agent.status as 'active',
        ...pick(agent.fields, isDefault(agent.fields) ? FIELDS_BY_DEFAULT : AGENT_FIELDS),
        accounts: agent.accounts.map(({ provider, allowSensitivePaths }) => ({
          provider,
          allowSensitivePaths,
          credentials: variables(agent, provider, required[provider] ?? []),
        })),
      })),
    })),
    webhooks: state.webhooks.map(({ url, events, status }) => ({ url, events, status: status as 'active' })),
  };
}

/** What follows the budget's mode by itself is not written down: as a choice it would stay when the mode changes. */
const isDefault = ({ budgetMode, onStoreLoss }: Fields): boolean =>
  onStoreLoss === (budgetMode === 'hard' ? 'refuse' : 'allow');
const FIELDS_BY_DEFAULT = AGENT_FIELDS.filter((field) => field !== 'onStoreLoss');

/** `{apiKey: {env: 'SUPPORT_BOT_OPENAI_API_KEY'}}` */
const variables = ({ slug }: AgentState, provider: string, fields: readonly string[]) =>
  Object.fromEntries(fields.map((field) => [field, { env: variable(`${slug}_${provider}_${field}`) }]));

const variable = (text: string): string =>
  text
    .replaceAll(/([a-z])([A-Z])/g, '$1_$2')
    .replaceAll(/\W/g, '_')
    .toUpperCase();

const pick = (from: Fields, fields: readonly string[]): Fields =>
  Object.fromEntries(fields.flatMap((field) => (Object.hasOwn(from, field) ? [[field, from[field]]] : [])));

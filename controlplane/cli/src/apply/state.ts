/** What an organization has, as far as a document can say it; read from the API. */
import type { Client } from '@acg/client/client';
import { everyRow } from '@acg/client/every-row';
import { collected } from '../api/lookup.js';
import type { Fields } from './document.js';

interface AccountState {
  readonly id: string;
  readonly provider: string;
  readonly allowSensitivePaths: boolean;
}
export interface AgentState {
  readonly id: string;
  readonly name: string;
  readonly slug: string;
  readonly status: string;
  readonly fields: Fields;
  readonly accounts: readonly AccountState[];
}
interface ProjectState {
  readonly id: string;
  readonly name: string;
  readonly budgetCentsMonthly: number | null;
  readonly agents: readonly AgentState[];
}
export interface State {
  readonly customProviders: readonly { readonly id: string; readonly slug: string; readonly fields: Fields }[];
  readonly projects: readonly ProjectState[];
  readonly webhooks: readonly {
    readonly id: string;
    readonly url: string;
    readonly events: readonly string[];
    readonly status: string;
  }[];
}

/** Agents that are read at once. */
const AT_ONCE = 8;

export async function readState(client: Client): Promise<State> {
  const providers = await collected(
    everyRow(
      (query) => client.get('/v1/custom-providers', { params: { query } }),
      (page) => page.providers,
    ),
  );
  const projects = await collected(
    everyRow(
      (query) => client.get('/v1/projects', { params: { query } }),
      (page) => page.projects,
    ),
  );
  const webhooks = await collected(
    everyRow(
      (query) => client.get('/v1/webhooks', { params: { query } }),
      (page) => page.endpoints,
    ),
  );
  const accounts = await readAccounts(client);
  const read: ProjectState[] = [];
  for (const { id, name, budgetCentsMonthly } of projects) {
    read.push({ id, name, budgetCentsMonthly, agents: await readAgents(client, id, accounts) });
  }
  return {
    customProviders: providers.flatMap(({ id, slug, builtIn, ...fields }) =>
      builtIn || id === null ? [] : [{ id, slug, fields }],
    ),
    projects: read,
    webhooks,
  };
}

/** By agent. */
async function readAccounts(client: Client): Promise<ReadonlyMap<string, readonly AccountState[]>> {
  const byAgent = new Map<string, AccountState[]>();
  const accounts = everyRow(
    (query) => client.get('/v1/providers/accounts', { params: { query } }),
    (page) => page.accounts,
  );
  for await (const { id, agentId, providerSlug: provider, allowSensitivePaths } of accounts) {
    byAgent.set(agentId, [...(byAgent.get(agentId) ?? []), { id, provider, allowSensitivePaths }]);
  }
  return byAgent;
}

async function readAgents(
  client: Client,
  projectId: string,
  accounts: ReadonlyMap<string, readonly AccountState[]>,
): Promise<AgentState[]> {
  const listed = await collected(
    everyRow(
      (query) => client.get('/v1/agents', { params: { query: { projectId, ...query } } }),
      (page) => page.agents,
    ),
  );
  const agents: AgentState[] = [];
  for (let at = 0; at < listed.length; at += AT_ONCE) {
    const some = listed.slice(at, at + AT_ONCE).map(async ({ id }) => {
      const { agent } = await client.get('/v1/agents/{id}', { params: { path: { id } } });
      const { name, slug, status, ...fields } = agent;
      return { id, name, slug, status, fields, accounts: accounts.get(id) ?? [] };
    });
    agents.push(...(await Promise.all(some)));
  }
  return agents;
}

/** Reads an organization's resources from the API, as far as a document can describe them. */

import type { Client } from '@acg/client/typed-api-client-throwing-errors';
import { fetchAllRows } from '../api/call-api-operation.js';
import type { Fields } from './config-document.js';

export interface TrustRuleState {
  readonly id: string;
  readonly name: string;
  readonly agentId: string;
  readonly issuer: string;
  readonly fields: Fields;
}
interface AccountState {
  readonly id: string;
  readonly provider: string;
  readonly allowSensitivePaths: boolean;
  /** Id of the shared credential; null when the account has its own. */
  readonly credentialId: string | null;
  readonly allowOpaque: boolean;
}
export interface AgentState {
  readonly id: string;
  readonly name: string;
  readonly slug: string;
  readonly status: string;
  readonly fields: Fields;
  readonly accounts: readonly AccountState[];
}
/**
 * Personal agents and their trust rules are neither exported nor pruned: their owners create them, and the end of a
 * membership ends them.
 */
export const isPersonal = ({ fields }: Pick<AgentState, 'fields'>): boolean => fields.ownerUserId !== undefined;

interface ProjectState {
  readonly id: string;
  readonly name: string;
  readonly fields: Fields;
  /** Ids of shared credentials; null: members may not have an agent of their own. */
  readonly personalAgents: { readonly credentialIds: readonly string[] } | null;
  /** With personal agents ({@link isPersonal}). */
  readonly agents: readonly AgentState[];
}
export interface OrgState {
  readonly organization: { readonly id: string; readonly slug: string; readonly fields: Fields };
  /** All providers, with the fields of their credentials. */
  readonly providers: readonly {
    readonly slug: string;
    readonly credentialFields: readonly {
      readonly name: string;
      readonly required: boolean;
      readonly secret: boolean;
    }[];
  }[];
  readonly sharedCredentials: readonly {
    readonly id: string;
    readonly name: string;
    readonly providerSlug: string;
    readonly projectId: string | null;
  }[];
  readonly customProviders: readonly { readonly id: string; readonly slug: string; readonly fields: Fields }[];
  readonly projects: readonly ProjectState[];
  readonly webhooks: readonly {
    readonly id: string;
    readonly url: string;
    readonly events: readonly string[];
    readonly status: string;
  }[];
  /** Without those of personal agents ({@link isPersonal}). */
  readonly trustRules: readonly TrustRuleState[];
}

/** Maximum number of agents that are read concurrently. */
const CONCURRENT_READS_MAX = 8;

export async function fetchOrgState(client: Client): Promise<OrgState> {
  const providers = await fetchAllRows(client, 'GET /v1/custom-providers', 'providers');
  const projects = await fetchAllRows(client, 'GET /v1/projects', 'projects');
  const webhooks = await fetchAllRows(client, 'GET /v1/webhooks', 'endpoints');
  const sharedCredentials = await fetchAllRows(client, 'GET /v1/credentials', 'credentials');
  const trustRules = await fetchAllRows(client, 'GET /v1/trust-rules', 'rules');
  const { orgId } = await client.get('/v1/me');
  const { org } = await client.get('/v1/orgs/{id}', { params: { path: { id: orgId } } });
  const accounts = await fetchAccountsByAgent(client);
  const read: ProjectState[] = [];
  for (const { id, name } of projects) {
    const { project } = await client.get('/v1/projects/{id}', { params: { path: { id } } });
    const { personalAgents } = project;
    read.push({ id, name, fields: { ...project }, personalAgents, agents: await fetchAgents(client, id, accounts) });
  }
  const personalIds = new Set(read.flatMap(({ agents }) => agents.filter(isPersonal).map(({ id }) => id)));
  return {
    organization: { id: org.id, slug: org.slug, fields: { ...org } },
    providers,
    sharedCredentials,
    customProviders: providers.flatMap(({ id, slug, builtIn, definition, ...fields }) => {
      if (builtIn || id === null) return [];
      // A definition replaces all fields but the name.
      return [{ id, slug, fields: definition === null ? fields : { displayName: fields.displayName, definition } }];
    }),
    projects: read,
    webhooks,
    trustRules: trustRules
      .filter(({ agentId }) => !personalIds.has(agentId))
      .map(({ id, name, agentId, issuer, ...fields }) => ({ id, name, agentId, issuer, fields })),
  };
}

/** Returns accounts by agent id. */
async function fetchAccountsByAgent(client: Client): Promise<ReadonlyMap<string, readonly AccountState[]>> {
  const byAgent = new Map<string, AccountState[]>();
  const accounts = await fetchAllRows(client, 'GET /v1/providers/accounts', 'accounts');
  for (const { id, agentId, providerSlug: provider, allowSensitivePaths, allowOpaque, credentialId } of accounts) {
    const account = { id, provider, allowSensitivePaths, allowOpaque, credentialId };
    byAgent.set(agentId, [...(byAgent.get(agentId) ?? []), account]);
  }
  return byAgent;
}

async function fetchAgents(
  client: Client,
  projectId: string,
  accounts: ReadonlyMap<string, readonly AccountState[]>,
): Promise<AgentState[]> {
  const listed = await fetchAllRows(client, 'GET /v1/agents', 'agents', { projectId });
  const agents: AgentState[] = [];
  for (let at = 0; at < listed.length; at += CONCURRENT_READS_MAX) {
    const some = listed.slice(at, at + CONCURRENT_READS_MAX).map(async ({ id }) => {
      const { agent } = await client.get('/v1/agents/{id}', { params: { path: { id } } });
      const { name, slug, status, ...fields } = agent;
      return { id, name, slug, status, fields, accounts: accounts.get(id) ?? [] };
    });
    agents.push(...(await Promise.all(some)));
  }
  return agents;
}

/** The setting of a project as a document states it: by the names of its shared credentials. */
export const namePersonalCredentials = (
  { sharedCredentials }: OrgState,
  { credentialIds }: { readonly credentialIds: readonly string[] },
): { readonly sharedCredentials: readonly string[] } => ({
  sharedCredentials: credentialIds.map((id) => sharedCredentials.find((row) => row.id === id)!.name),
});

/** Finds agents by name, slug or id, across all projects. */

import type { Client } from '@acg/client/typed-api-client-throwing-errors';
import type { Invocation } from '../invocation/invocation.js';
import { usage } from '../terminal/cli-error.js';
import { fetchAllRows } from './call-api-operation.js';
import { findProjectId, isUuid, selectByName } from './find-by-name.js';

interface AgentRow {
  readonly id: string;
  readonly name: string;
  readonly slug: string;
}

/** Returns the agent named by the option, else by the environment or `.acg.json`. */
export function requireAgentName(run: Invocation, text: string | undefined, named = '--agent'): string {
  const wanted = text ?? run.settings.agent;
  if (wanted === null || wanted === '') throw usage('which agent?', `${named}, ACG_AGENT, or acg init`);
  return wanted;
}

export async function findAgentId(run: Invocation, text: string): Promise<string> {
  return isUuid(text) ? text : (await findAgent(run, text)).id;
}

export async function findAgent(run: Invocation, text: string): Promise<AgentRow> {
  const client = await run.getClient();
  if (isUuid(text)) return (await client.get('/v1/agents/{id}', { params: { path: { id: text } } })).agent;
  return selectByName(await listAgents(client, run.settings.project, text), text, 'agent', 'acg agents ls');
}

/** Lists agents of one project, or of all when `project` is null. */
async function listAgents(client: Client, project: string | null, search: string): Promise<AgentRow[]> {
  const within = project === null ? {} : { projectId: await findProjectId(client, project) };
  return fetchAllRows(client, 'GET /v1/usage/agents', 'agents', { ...within, search });
}

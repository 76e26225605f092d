/** Agents by what people call them, over all projects. */
import type { Client } from '@acg/client/client';
import { everyRow } from '@acg/client/every-row';
import type { Invocation } from '../invocation/invocation.js';
import { usage } from '../terminal/failure.js';
import { collected, findProject, isId, type PageQuery, pickOne } from './lookup.js';

interface AgentName {
  readonly id: string;
  readonly name: string;
  readonly slug: string;
}

/** The agent that is named here, else in the environment or `.acg.json`. */
export function wantedAgent(run: Invocation, text: string | undefined, named = '--agent'): string {
  const wanted = text ?? run.settings.agent;
  if (wanted === null || wanted === '') throw usage('which agent?', `${named}, ACG_AGENT, or acg init`);
  return wanted;
}

export async function findAgentId(run: Invocation, text: string): Promise<string> {
  return isId(text) ? text : (await findAgent(run, text)).id;
}

export async function findAgent(run: Invocation, text: string): Promise<AgentName> {
  const client = await run.client();
  if (isId(text)) return (await client.get('/v1/agents/{id}', { params: { path: { id: text } } })).agent;
  return pickOne(await everyAgent(client, run.settings.project, text), text, 'agent', 'acg agents ls');
}

/** Of one project, or of all. */
async function everyAgent(client: Client, project: string | null, search: string): Promise<AgentName[]> {
  const within = project === null ? {} : { projectId: await findProject(client, project) };
  const load = (page: PageQuery) =>
    client.get('/v1/usage/agents', { params: { query: { ...within, search, ...page } } });
  return collected(everyRow(load, (page) => page.agents));
}

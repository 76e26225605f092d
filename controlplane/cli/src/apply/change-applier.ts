/** Applies a plan change by change. Changes made before a failure remain, and the next run continues with the rest. */
import type { Client } from '@acg/client/typed-api-client-throwing-errors';
import { omitUndefined } from '../api/omit-undefined.js';
import { usage } from '../terminal/cli-error.js';
import type { AccountSpec, Fields, SharedCredentialSpec } from './config-document.js';
import { newValues } from './new-values.js';
import type { OrgState } from './org-state.js';
import type { AgentPath, Change, RowType } from './plan-changes.js';

interface WebhookSecret {
  readonly webhook: string;
  readonly secret: string;
}

export class ChangeApplier {
  readonly #projects = new Map<string, string>();
  readonly #agents = new Map<string, string>();
  readonly #sharedCredentials = new Map<string, string>();
  /** Signing secrets of new webhook endpoints. The API returns them only once. */
  readonly webhookSecrets: WebhookSecret[] = [];

  constructor(
    readonly client: Client,
    state: OrgState,
    readonly env: Readonly<Record<string, string | undefined>>,
  ) {
    for (const { id, name } of state.sharedCredentials) this.#sharedCredentials.set(name, id);
    for (const { id, name, agents } of state.projects) {
      this.#projects.set(name, id);
      for (const agent of agents) this.#agents.set(agentKey({ project: name, agent: agent.name }), agent.id);
    }
  }

  /** Runs before the first change: a missing variable would leave the plan half applied. */
  assertVariablesSet(changes: readonly Change[]): void {
    for (const change of changes) {
      if (change.action === 'create' && change.type === 'account')
        this.#resolveCredentials(change.account.credentials ?? {}, change.name);
      if (change.action === 'create' && change.type === 'sharedCredential')
        this.#resolveCredentials(change.credential.credentials ?? {}, change.name);
    }
  }

  async apply(change: Change): Promise<void> {
    if (change.action === 'delete') return this.#delete(change.type, change.id);
    if (change.action === 'update') return this.#update(change.type, change.id, newValues(change.fields));
    if (change.action === 'status') {
      const params = { path: { id: this.#agents.get(agentKey(change.agent))! } };
      await this.client.send('PATCH', `/v1/agents/${params.path.id}/status`, json(newValues(change.fields)));
      return;
    }
    if (change.type === 'sharedCredential') return this.#createSharedCredential(change.credential);
    if (change.type === 'account') return this.#createAccount(change.agent, change.account);
    if (change.type === 'trustRule') {
      await this.#post('/v1/trust-rules', { agentId: this.#agents.get(agentKey(change.agent))!, ...change.fields });
      return;
    }
    if (change.type === 'agent') {
      const projectId = this.#projects.get(change.project)!;
      const { agent } = await this.#post<{ agent: { id: string } }>('/v1/agents', { projectId, ...change.fields });
      this.#agents.set(agentKey({ project: change.project, agent: change.name }), agent.id);
      return;
    }
    await this.#create(change.type, change.name, change.fields);
  }

  async #create(type: 'project' | 'customProvider' | 'webhook', name: string, fields: Fields): Promise<void> {
    if (type === 'customProvider') {
      await this.#post('/v1/custom-providers', fields);
      return;
    }
    if (type === 'webhook') {
      const { status, ...rest } = fields;
      const { endpoint } = await this.#post<{ endpoint: { id: string; secret: string } }>('/v1/webhooks', rest);
      this.webhookSecrets.push({ webhook: name, secret: endpoint.secret });
      if (status === 'paused') await this.#update('webhook', endpoint.id, { status });
      return;
    }
    const { name: _name, ...rest } = fields;
    const { project } = await this.#post<{ project: { id: string } }>('/v1/projects', { name });
    this.#projects.set(name, project.id);
    if (Object.keys(rest).length > 0) await this.#update('project', project.id, rest);
  }

  async #createAccount(
    agent: AgentPath,
    { provider, credentials = {}, sharedCredential, allowSensitivePaths, allowOpaque }: AccountSpec,
  ): Promise<void> {
    await this.#post('/v1/providers/accounts', {
      agentId: this.#agents.get(agentKey(agent))!,
      providerSlug: provider,
      ...(sharedCredential === undefined
        ? { credentials: this.#resolveCredentials(credentials, `${agent.agent} / ${provider}`) }
        : { credentialId: this.#sharedCredentials.get(sharedCredential)! }),
      ...omitUndefined({ allowSensitivePaths, allowOpaque }),
    });
  }

  async #createSharedCredential({ name, provider, project, credentials = {} }: SharedCredentialSpec): Promise<void> {
    const { credential } = await this.#post<{ credential: { id: string } }>('/v1/credentials', {
      name,
      providerSlug: provider,
      ...(project === undefined ? {} : { projectId: this.#projects.get(project)! }),
      credentials: this.#resolveCredentials(credentials, name),
    });
    this.#sharedCredentials.set(name, credential.id);
  }

  #resolveCredentials(credentials: NonNullable<AccountSpec['credentials']>, name: string): Fields {
    return Object.fromEntries(
      Object.entries(credentials).map(([field, source]) => {
        if (typeof source === 'string') return [field, source];
        const value = this.env[source.env];
        if (!value) throw usage(`${name}: the variable ${source.env} is not set`, 'set it, and apply again');
        return [field, value];
      }),
    );
  }

  // Sends the document's values unchanged; the API validates them.
  async #update(type: RowType, id: string, fields: Fields): Promise<void> {
    await this.client.send(type === 'customProvider' ? 'PUT' : 'PATCH', `${PATHS[type]}/${id}`, json(fields));
  }

  async #delete(type: RowType, id: string): Promise<void> {
    await this.client.send('DELETE', `${PATHS[type]}/${id}`);
  }

  async #post<T>(path: string, body: Fields): Promise<T> {
    return (await (await this.client.send('POST', path, json(body))).json()) as T;
  }
}

const PATHS: Readonly<Record<RowType, string>> = {
  organization: '/v1/orgs',
  sharedCredential: '/v1/credentials',
  project: '/v1/projects',
  agent: '/v1/agents',
  account: '/v1/providers/accounts',
  customProvider: '/v1/custom-providers',
  webhook: '/v1/webhooks',
  trustRule: '/v1/trust-rules',
};

const agentKey = ({ project, agent }: AgentPath): string => JSON.stringify([project, agent]);
const json = (body: Fields) => ({ body: JSON.stringify(body), headers: { 'content-type': 'application/json' } });

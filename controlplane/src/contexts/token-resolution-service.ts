/** Resolves gateway tokens to the contexts of their agents (docs/contract.md#gateway-tokens). */

import type { Logger } from '@acg/base/log';
import { UUID_PATTERN_ANY_CASE } from '@acg/base/uuid-patterns';
import { type IResolveTokenResponse, Outcome } from '@acg/proto/messages';
import type { Sql } from '../db/postgres-client.js';
import { decryptCredentials } from '../provider-accounts/credential-encryption.js';
import type { Catalogue } from '../providers/catalogue/catalogue.js';
import type { Vault } from '../vault/aes-gcm-vault.js';
import {
  type AccountRow,
  type AgentRow,
  type ContextRows,
  type KeyRow,
  loadContextRows,
  type ParsedTokenQuery,
  type TokenQuery,
} from './agent-context-store.js';
import { assembleAgentContext } from './assemble-agent-context.js';

export class TokenResolutionService {
  constructor(
    readonly sql: Sql,
    readonly catalogue: Catalogue,
    readonly vault: Vault,
    readonly log: Logger,
  ) {}

  /**
   * Returns one response for each of the first queries, in order, as many as fit into one batch. All come from one
   * snapshot of the database. `enforcesBudgets`: the data plane enforces budget rows, so it may serve runs.
   */
  async resolve(queries: readonly TokenQuery[], enforcesBudgets: boolean): Promise<IResolveTokenResponse[]> {
    const parsedQueries = queries.map((query) => ({
      ...query,
      agentRefId: UUID_PATTERN_ANY_CASE.test(query.agentRef) ? query.agentRef.toLowerCase() : null,
    }));
    const rows = await loadContextRows(this.sql, parsedQueries, enforcesBudgets);
    return rows.map((row, i) => this.#toResponse(row, parsedQueries[i]!));
  }

  #toResponse(
    { revision, key, agents }: ContextRows,
    { agentRef, agentRefId }: ParsedTokenQuery,
  ): IResolveTokenResponse {
    if (key === null) return { outcome: Outcome.UNKNOWN_TOKEN, revision };
    const agent = selectAgent(key, agents, agentRef, agentRefId);
    if (typeof agent === 'number') return { outcome: agent, revision };
    const decrypt = (account: AccountRow) => decryptCredentials(this.vault, this.log, key.orgId, account);
    return {
      outcome: Outcome.FOUND,
      context: assembleAgentContext(key, agent, this.catalogue, decrypt, (purpose) => this.vault.deriveKey(purpose)),
      revision,
    };
  }
}

/** Returns the agent, or the outcome that rejects the token or agent reference. */
function selectAgent(
  key: KeyRow,
  agents: readonly AgentRow[],
  agentRef: string,
  agentRefId: string | null,
): AgentRow | number {
  const [first, second] = agents;
  if (key.scope === 'agent') {
    // Keys are deleted with their agent, so only a running deletion leaves a key without one.
    if (first === undefined) return Outcome.UNKNOWN_TOKEN;
    const isOwnAgent = agentRef === '' || agentRefId === first.id || agentRef === first.slug;
    return isOwnAgent ? first : Outcome.AGENT_OUT_OF_SCOPE;
  }
  if (agentRef === '') return Outcome.AGENT_REQUIRED;
  if (first === undefined) return Outcome.AGENT_OUT_OF_SCOPE;
  // An id identifies exactly one agent, even if another agent's slug looks like that id.
  if (second !== undefined && first.id !== agentRefId) return Outcome.AGENT_AMBIGUOUS;
  return first;
}

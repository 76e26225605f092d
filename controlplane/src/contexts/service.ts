/** Answers which context serves a gateway token (docs/contract.md#gateway-tokens). */

import type { Logger } from '@acg/base/log';
import { UUID_PATTERN_ANY_CASE } from '@acg/base/uuid';
import { type IResolveTokenResponse, Outcome } from '@acg/proto/messages';
import type { Sql } from '../db/sql.js';
import { decryptCredentials } from '../provider-accounts/credential-encryption.js';
import type { Catalogue } from '../providers/catalogue/catalogue.js';
import type { Vault } from '../vault/vault.js';
import { assembleContext } from './assemble-context.js';
import {
  type AccountRow,
  type AgentRow,
  type ContextRows,
  type KeyRow,
  loadContextRows,
  type ParsedTokenQuery,
  type TokenQuery,
} from './store.js';

export class ContextService {
  constructor(
    readonly sql: Sql,
    readonly catalogue: Catalogue,
    readonly vault: Vault,
    readonly log: Logger,
  ) {}

  /** One answer for each of the first queries, in order, as many as fit; all from one snapshot of the database. */
  async resolve(queries: readonly TokenQuery[]): Promise<IResolveTokenResponse[]> {
    const named = queries.map((query) => ({
      ...query,
      agentRefId: UUID_PATTERN_ANY_CASE.test(query.agentRef) ? query.agentRef.toLowerCase() : null,
    }));
    const rows = await loadContextRows(this.sql, named);
    return rows.map((row, i) => this.#toResponse(row, named[i]!));
  }

  #toResponse(
    { revision, key, agents }: ContextRows,
    { agentRef, agentRefId }: ParsedTokenQuery,
  ): IResolveTokenResponse {
    if (key === null) return { outcome: Outcome.UNKNOWN_TOKEN, revision };
    const agent = selectAgent(key, agents, agentRef, agentRefId);
    if (typeof agent === 'number') return { outcome: agent, revision };
    const decrypt = (account: AccountRow) => decryptCredentials(this.vault, this.log, key.orgId, account);
    return { outcome: Outcome.FOUND, context: assembleContext(key, agent, this.catalogue, decrypt), revision };
  }
}

/** The agent, or the outcome that refuses. */
function selectAgent(
  key: KeyRow,
  agents: readonly AgentRow[],
  agentRef: string,
  agentRefId: string | null,
): AgentRow | number {
  const [first, second] = agents;
  if (key.scope === 'agent') {
    // Keys go with their agent, so only a deletion in progress leaves one without.
    if (first === undefined) return Outcome.UNKNOWN_TOKEN;
    const itself = agentRef === '' || agentRefId === first.id || agentRef === first.slug;
    return itself ? first : Outcome.AGENT_OUT_OF_SCOPE;
  }
  if (agentRef === '') return Outcome.AGENT_REQUIRED;
  if (first === undefined) return Outcome.AGENT_OUT_OF_SCOPE;
  // An id names exactly one, even where another agent's slug happens to look like it.
  if (second !== undefined && first.id !== agentRefId) return Outcome.AGENT_AMBIGUOUS;
  return first;
}

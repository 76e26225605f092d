/** Resolves gateway tokens to the contexts of their agents (docs/contract.md#gateway-tokens). */

import type { Logger } from '@acg/base/log';
import { UUID_PATTERN_ANY_CASE } from '@acg/base/uuid-patterns';
import { type IResolveTokenResponse, Outcome } from '@acg/proto/messages';
import type { Sql } from '../db/postgres-client.js';
import type { MintService } from '../minting/mint-service.js';
import { openMinted } from '../minting/open-minted.js';
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

/** A call waits at most so long for its credential. */
const MINT_WAIT_MS = 3_000;

export class TokenResolutionService {
  constructor(
    readonly sql: Sql,
    readonly catalogue: Catalogue,
    readonly vault: Vault,
    readonly log: Logger,
    readonly minting: Pick<MintService, 'ensure' | 'markUsed'>,
  ) {}

  /**
   * Returns one response for each of the first queries, in order, as many as fit into one batch. All come from one
   * snapshot of the database. `enforcesBudgets`: the data plane enforces budget rows, so it may serve runs. `cell`: that of
   * the data plane; `''` = none.
   */
  async resolve(
    queries: readonly TokenQuery[],
    enforcesBudgets: boolean,
    cell: string,
  ): Promise<IResolveTokenResponse[]> {
    const parsedQueries = queries.map((query) => ({
      ...query,
      agentRefId: UUID_PATTERN_ANY_CASE.test(query.agentRef) ? query.agentRef.toLowerCase() : null,
    }));
    const load = () => loadContextRows(this.sql, parsedQueries, enforcesBudgets, cell);
    let rows = await load();
    if (await this.#mint(rows, parsedQueries)) rows = await load();
    this.minting.markUsed(rows.flatMap(({ agents }) => agents.flatMap(listUnusedMinted)));
    return rows.map((row, i) => this.#toResponse(row, parsedQueries[i]!));
  }

  /** Waits for the minted credentials that the queries need. Returns false when they need none. */
  async #mint(rows: readonly ContextRows[], queries: readonly ParsedTokenQuery[]): Promise<boolean> {
    const waits = rows.map(({ key, agents }, i) => {
      const { mintAccountId, rejectedGeneration, agentRef, agentRefId } = queries[i]!;
      if (key === null || mintAccountId === undefined) return null;
      const agent = selectAgent(key, agents, agentRef, agentRefId);
      const account = typeof agent === 'number' ? null : agent.accounts.find(({ id }) => id === mintAccountId);
      if (account?.status !== 'active') return null;
      const { credentialId } = account;
      const owner = {
        orgId: key.orgId,
        accountId: credentialId === null ? account.id : null,
        credentialId,
        agentId: null,
      };
      return this.minting.ensure(owner, MINT_WAIT_MS, rejectedGeneration);
    });
    await Promise.all(waits);
    return waits.some((wait) => wait !== null);
  }

  #toResponse(
    { revision, key, agents }: ContextRows,
    { agentRef, agentRefId }: ParsedTokenQuery,
  ): IResolveTokenResponse {
    if (key === null) return { outcome: Outcome.UNKNOWN_TOKEN, revision };
    const agent = selectAgent(key, agents, agentRef, agentRefId);
    if (typeof agent === 'number') return { outcome: agent, revision };
    const open = {
      credentials: (account: AccountRow) => decryptCredentials(this.vault, this.log, key.orgId, account),
      minted: (account: AccountRow) => openMinted(this.vault, this.log, key.orgId, account.minted),
    };
    return {
      outcome: Outcome.FOUND,
      context: assembleAgentContext(key, agent, this.catalogue, open, (purpose) => this.vault.deriveKey(purpose)),
      revision,
    };
  }
}

const listUnusedMinted = ({ accounts }: AgentRow): string[] =>
  accounts.flatMap(({ minted }) => (minted === null || minted.used || minted.ciphertext === null ? [] : minted.id));

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

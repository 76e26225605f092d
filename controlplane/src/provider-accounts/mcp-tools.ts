/**
 * Lists the tools of the MCP server of an account, and which of them its agent may call. Asks the server with the
 * account's credential, through the egress guard. Answers are cached for each account in this process.
 */
import type { Dialer } from '@acg/base/dialer/dialer';
import { createUndiciConnector } from '@acg/base/dialer/undici-connector';
import { FairSemaphore } from '@acg/base/fairness/fair-semaphore';
import type { Logger } from '@acg/base/log';
import { findToolLimit, McpNameRule } from '@acg/base/policy/mcp-name-rule';
import type { IUpstream } from '@acg/proto/messages';
import { LRUCache } from 'lru-cache';
import { Agent, request } from 'undici';
import { callPolicyOf } from '../agents/call-and-model-policy-schema.js';
import { createQueueFullError, InvalidInput, NotFound } from '../domain/errors.js';
import { runWithoutRequestSlot } from '../http/org-request-slots.js';
import type { Actor } from '../http/route-access.js';
import { mergeMinted } from '../minting/exchange.js';
import { MINT_FAILURES, MintFailure } from '../minting/mint-failure.js';
import type { MintService } from '../minting/mint-service.js';
import { buildUpstreams } from '../providers/build-upstream.js';
import type { Credentials } from '../providers/catalogue/credential-template.js';
import type { Provider } from '../providers/catalogue/provider.js';
import { applyCredential } from '../providers/credential-probe.js';
import { listMcpTools, McpListFailure, type McpToolList, type SendToMcpServer } from '../providers/list-mcp-tools.js';
import { createSecretMask } from '../providers/mask-echoed-secrets.js';
import { decryptCredentials } from './credential-encryption.js';
import type { AccountTools } from './schema.js';
import type { ProviderAccountService } from './service.js';
import * as store from './store.js';

const RUNNING_MAX = 4;
const WAITING_MAX = 64;
const TIMEOUT_MS = 15_000;
const CACHE_MS = 600_000;
/** A reader who wants a new list gets one that is at most this old. */
const REFRESH_MS = 10_000;
const CACHE_BYTES_MAX = 32 * 1024 * 1024;
const CACHE_ENTRIES_MAX = 1_000;
/** Where the servers of custom providers may answer, behind their address. */
const CUSTOM_PATHS = ['/mcp', ''];

interface FetchedTools {
  readonly list: McpToolList;
  readonly fetchedAtMs: number;
}

interface UsableAccount {
  readonly account: store.AccountRow;
  readonly provider: Provider;
  readonly credentials: Credentials;
  /** Changes with credential and provider. */
  readonly version: string;
}

export class McpTools {
  readonly #semaphore = new FairSemaphore({
    runningMax: RUNNING_MAX,
    waitingMax: WAITING_MAX,
    createError: () => createQueueFullError('lists of tools'),
    fraction: 1 / 2,
  });
  readonly #cache = new LRUCache<string, FetchedTools>({
    max: CACHE_ENTRIES_MAX,
    maxSize: CACHE_BYTES_MAX,
    sizeCalculation: ({ list }) => 100 + JSON.stringify(list).length,
    ttl: CACHE_MS,
  });

  constructor(
    readonly accounts: ProviderAccountService,
    readonly dialer: Dialer,
    readonly log: Logger,
    readonly minting: Pick<MintService, 'currentFields' | 'exchange'>,
  ) {}

  /** `refresh`: not from the cache, unless it was filled in the last 10 s. */
  async list(actor: Actor, id: string, refresh: boolean): Promise<AccountTools> {
    const { orgId } = actor;
    const account = await store.loadAccount(this.accounts.sql, orgId, id);
    if (account === null) throw new NotFound('provider account');
    const agent = await this.accounts.agents.get(actor, account.agentId);
    const { fetched, problem } = await this.#fetch(orgId, account, refresh);
    const policy = callPolicyOf(agent.policy, account.providerSlug);
    const rule = policy?.mcp?.tools ? new McpNameRule(policy.mcp.tools) : null;
    const limits = policy?.toolLimits ?? [];
    return {
      accountId: id,
      agentId: account.agentId,
      providerSlug: account.providerSlug,
      problem,
      fetchedAt: fetched === null ? null : new Date(fetched.fetchedAtMs).toISOString(),
      truncated: fetched?.list.truncated ?? false,
      tools: (fetched?.list.tools ?? []).map((tool) => ({
        ...tool,
        allowed: policy?.closed !== true && (rule === null || rule.allows(tool.name)),
        rpm: findToolLimit(limits, tool.name)?.rpm ?? null,
      })),
    };
  }

  async #fetch(
    orgId: string,
    account: store.AccountRow,
    refresh: boolean,
  ): Promise<{ readonly fetched: FetchedTools | null; readonly problem: string | null }> {
    const usable = await this.#prepare(orgId, account);
    if (usable === null) return { fetched: null, problem: 'The account needs its credential set again.' };
    const key = `${account.id} ${usable.version}`;
    const cached = this.#cache.get(key) ?? null;
    const maxAgeMs = refresh ? REFRESH_MS : CACHE_MS;
    if (cached !== null && Date.now() - cached.fetchedAtMs < maxAgeMs) return { fetched: cached, problem: null };
    try {
      const list = await runWithoutRequestSlot(() => this.#semaphore.run(orgId, () => this.#ask(orgId, usable)));
      const fetched = { list, fetchedAtMs: Date.now() };
      this.#cache.set(key, fetched);
      return { fetched, problem: null };
    } catch (error) {
      if (!(error instanceof McpListFailure)) throw error;
      return { fetched: cached, problem: error.message };
    }
  }

  /** Null: no credential that may be sent. Throws {@link InvalidInput} for a provider that is no MCP server. */
  async #prepare(orgId: string, account: store.AccountRow): Promise<UsableAccount | null> {
    const { accounts, log } = this;
    const [provider, sealed] = await accounts.sql.begin(async (tx) => {
      const locked = await accounts.lockProvider(tx, orgId, account.providerSlug);
      return [locked.provider, await store.loadEncryptedCredential(tx, orgId, account.id)] as const;
    });
    if (provider.mainUsageFormat !== 'mcp')
      throw new InvalidInput(`${account.providerSlug} is no MCP server: only MCP servers have tools`);
    // A credential is never sent to another host than the one it was stored for.
    if (sealed === null || !sealed.isUsable) return null;
    const credentials = decryptCredentials(accounts.vault, log, orgId, sealed);
    if (credentials === null) return null;
    const address = provider.address(credentials)?.baseUrl ?? '';
    return { account, provider, credentials, version: `${sealed.nonce} ${address}` };
  }

  /** Exchanges the credentials first where the gateway mints what it sends. */
  async #mint(orgId: string, { account, provider, credentials }: UsableAccount): Promise<Credentials> {
    const method = provider.method(credentials);
    if (method === null) return credentials;
    try {
      if (method.kind === 'oauth2_authorization_code') {
        const { id, credentialId } = account;
        const owner = { orgId, accountId: credentialId === null ? id : null, credentialId, agentId: null };
        return mergeMinted(credentials, await this.minting.currentFields(owner));
      }
      const { fields } = await this.minting.exchange({
        orgId,
        provider,
        method,
        credentials,
        agentId: account.agentId,
        grant: null,
        server: null,
      });
      return mergeMinted(credentials, fields);
    } catch (error) {
      if (!(error instanceof MintFailure)) throw error;
      const { cause, remedy } = MINT_FAILURES[error.code];
      throw new McpListFailure(`${cause} ${remedy}`);
    }
  }

  /** Throws {@link McpListFailure}. */
  async #ask(orgId: string, usable: UsableAccount): Promise<McpToolList> {
    const { account, provider } = usable;
    const credentials = await this.#mint(orgId, usable);
    const { upstream } = buildUpstreams(provider, orgId, account.id, credentials, account);
    if (upstream.injection?.sigv4) throw new McpListFailure('The gateway cannot sign these calls.');
    const mask = createSecretMask(upstream.injection ?? {});
    const connect = createUndiciConnector(this.dialer, upstream.tenantAddress === true ? orgId : null);
    const agent = new Agent({ connect, pipelining: 0 });
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const ownPath = provider.file?.sdk?.basePath;
    const paths = ownPath === undefined ? CUSTOM_PATHS : [ownPath];
    try {
      for (const [at, path] of paths.entries()) {
        try {
          return await listMcpTools(createSender(upstream, path, agent, signal), mask);
        } catch (error) {
          const isMissing = error instanceof McpListFailure && (error.status === 404 || error.status === 405);
          if (!isMissing || at === paths.length - 1) throw error;
        }
      }
      throw new McpListFailure('The server has no address.');
    } catch (error) {
      if (error instanceof McpListFailure) throw error;
      this.log.info({ accountId: account.id, orgId, err: (error as Error).message }, 'tools not listed');
      throw new McpListFailure(
        signal.aborted ? 'The server did not answer in 15 s.' : 'The server could not be reached.',
      );
    } finally {
      void agent.destroy().catch(() => undefined);
    }
  }
}

function createSender({ origin, basePath, injection }: IUpstream, path: string, agent: Agent, signal: AbortSignal) {
  const send: SendToMcpServer = async (method, ownHeaders, body) => {
    const headers: Record<string, string> = { 'user-agent': 'agent-credential-gateway', ...ownHeaders };
    const target = applyCredential(headers, injection ?? {}, origin!, `${basePath ?? ''}${path}` || '/');
    const answer = await request(`${origin}${target}`, {
      dispatcher: agent,
      method,
      headers,
      signal,
      ...(body === '' ? {} : { body }),
    });
    return {
      status: answer.statusCode,
      contentType: readHeader(answer.headers['content-type']),
      sessionId: readHeader(answer.headers['mcp-session-id']) || null,
      body: answer.body,
    };
  };
  return send;
}

const readHeader = (value: string | string[] | undefined): string =>
  Array.isArray(value) ? (value[0] ?? '') : (value ?? '');

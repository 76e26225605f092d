/**
 * The gateway as OpenID Connect issuer, one for each organization (docs/secretless-accounts.md). Signs short tokens that
 * prove to a provider which agent the gateway acts for. All control planes sign with the same keys, which are in the
 * database, encrypted.
 */
import { createPrivateKey, generateKeyPair, randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import { uuidv7 } from '@acg/base/uuidv7';
import { type JWK, SignJWT } from 'jose';
import { recordAudit } from '../audit/audit-trail.js';
import type { Sql } from '../db/postgres-client.js';
import { Conflict, NotFound } from '../domain/errors.js';
import type { Actor } from '../http/route-access.js';
import type { Vault } from '../vault/aes-gcm-vault.js';
import * as store from './issuer-key-store.js';

const ALGORITHM = 'RS256';
const MODULUS_BITS = 2_048;
const TOKEN_LIFETIME_S = 300;
/** Of the life, this much lies in the past: the provider's clock may be behind. */
const BACKDATED_S = 60;
const ROTATIONS_PER_RUN = 100;
/** Of an organization, with those that verifiers may still need for a day. */
const PUBLISHED_KEYS_MAX = 5;

export class GatewayIssuer {
  /** First keys that this process creates now, by organization. */
  readonly #firstKeys = new Map<string, Promise<unknown>>();

  constructor(
    readonly sql: Sql,
    readonly vault: Vault,
    /** Without a slash at the end. */
    readonly baseUrl: string,
  ) {}

  urlOf(orgId: string): string {
    return `${this.baseUrl}/oidc/${orgId}`;
  }

  /** `sub` of an agent's tokens; ids only, because names can be used again. Null: the organization has no such agent. */
  async subjectOf(orgId: string, agentId: string): Promise<string | null> {
    const projectId = await store.loadProjectId(this.sql, orgId, agentId);
    return projectId === null ? null : `project:${projectId}:agent:${agentId}`;
  }

  /** A new token for one attempt. Null: the organization has no such agent. */
  async sign(orgId: string, agentId: string, audience: string): Promise<string | null> {
    const subject = await this.subjectOf(orgId, agentId);
    if (subject === null) return null;
    let key = await store.loadSigningKey(this.sql, orgId);
    if (key === null) {
      await this.ensureKeys(orgId);
      key = await store.loadSigningKey(this.sql, orgId);
    }
    if (key === null) return null;
    const pem = this.vault.decrypt({ purpose: 'issuer', orgId, id: key.id }, key);
    const issuedAtS = Math.floor(Date.now() / 1_000) - BACKDATED_S;
    return new SignJWT()
      .setProtectedHeader({ alg: ALGORITHM, typ: 'JWT', kid: key.id })
      .setIssuer(this.urlOf(orgId))
      .setSubject(subject)
      .setAudience(audience)
      .setIssuedAt(issuedAtS)
      .setNotBefore(issuedAtS)
      .setExpirationTime(issuedAtS + TOKEN_LIFETIME_S)
      .setJti(randomUUID())
      .sign(createPrivateKey(pem));
  }

  /** Published keys, newest first. */
  listKeys(orgId: string): Promise<readonly store.IssuerKeyRow[]> {
    return store.listPublishedKeys(this.sql, orgId);
  }

  hasManualRotation(orgId: string): Promise<boolean> {
    return store.hasManualRotation(this.sql, orgId);
  }

  /** Creates the first key of an organization that has none. */
  async ensureKeys(orgId: string): Promise<void> {
    if ((await store.loadSigningKey(this.sql, orgId)) !== null) return;
    let creation = this.#firstKeys.get(orgId);
    if (creation === undefined) {
      creation = this.#createKey(orgId, 'first').finally(() => this.#firstKeys.delete(orgId));
      this.#firstKeys.set(orgId, creation);
    }
    await creation;
  }

  /** Publishes the next key. It signs a day later, or when a person has activated it. */
  async createNextKey(actor: Actor): Promise<void> {
    await this.ensureKeys(actor.orgId);
    if ((await this.#createKey(actor.orgId, 'next', actor)) !== null) return;
    const keys = await this.listKeys(actor.orgId);
    throw new Conflict(
      keys.some(({ state }) => state === 'next')
        ? 'the next key is already published: activate it, or wait until it signs'
        : `${PUBLISHED_KEYS_MAX} keys are published: try again when a previous one has been published for a day`,
    );
  }

  /** The person has uploaded the key to all providers. */
  async activateKey(actor: Actor, id: string): Promise<void> {
    await this.sql.begin(async (tx) => {
      await store.lockKeys(tx, actor.orgId);
      if (!(await store.activateKey(tx, actor.orgId, id))) throw new NotFound('key that waits for its activation');
      await recordAudit(tx, actor, 'issuer.activate_key', { type: 'issuer_key', id }, {});
    });
  }

  async setManualRotation(actor: Actor, manual: boolean): Promise<void> {
    const { orgId } = actor;
    await this.sql.begin(async (tx) => {
      await store.lockKeys(tx, orgId);
      if (!(await store.setManualRotation(tx, orgId, manual))) return;
      const changes = { manualRotation: [!manual, manual] } as const;
      await recordAudit(tx, actor, 'issuer.update', { type: 'organization', id: orgId }, changes);
    });
  }

  /** Publishes the next keys that are due, and deletes keys that are not published any more. Called periodically. */
  async rotateDue(): Promise<void> {
    await store.pruneKeys(this.sql);
    const due = await store.listDueRotations(this.sql, ROTATIONS_PER_RUN);
    // One key pair at a time, because each takes a thread for some 100 ms. A failure does not keep the others.
    const outcomes: PromiseSettledResult<unknown>[] = [];
    for (const orgId of due) outcomes.push(...(await Promise.allSettled([this.#createKey(orgId, 'next')])));
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
  }

  /** Returns its id; null: there is one already, or there are too many. Generates the key pair before it takes the lock. */
  async #createKey(orgId: string, which: 'first' | 'next', actor: Actor | null = null): Promise<string | null> {
    const isAllowed = ({ hasKey, hasNext, published }: store.RotationState): boolean =>
      which === 'first' ? !hasKey : !hasNext && published < PUBLISHED_KEYS_MAX;
    const before = await store.loadRotationState(this.sql, orgId);
    if (before === null || !isAllowed(before)) return null;
    const id = uuidv7(Date.now());
    const { pem, publicJwk } = await generateRsaKey(id);
    const sealed = this.vault.encrypt({ purpose: 'issuer', orgId, id }, pem);
    return this.sql.begin(async (tx) => {
      const state = await store.lockKeys(tx, orgId);
      if (state === null || !isAllowed(state)) return null;
      const signs = which === 'first' ? 'now' : state.manual ? 'activated' : 'published';
      await store.insertKey(tx, orgId, { id, publicJwk, sealed, signs });
      if (actor !== null) await recordAudit(tx, actor, 'issuer.create_key', { type: 'issuer_key', id }, {});
      return id;
    });
  }
}

const generate = promisify(generateKeyPair);

async function generateRsaKey(kid: string): Promise<{ readonly pem: string; readonly publicJwk: JWK }> {
  const { privateKey, publicKey } = await generate('rsa', { modulusLength: MODULUS_BITS });
  const pem = privateKey.export({ format: 'pem', type: 'pkcs8' }) as string;
  const { kty, n, e } = publicKey.export({ format: 'jwk' }) as { kty: 'RSA'; n: string; e: string };
  return { pem, publicJwk: { kty, n, e, kid, use: 'sig', alg: ALGORITHM } };
}

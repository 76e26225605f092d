/**
 * `Idempotency-Key` on a POST: a repeated request gets the first response again, and the effect happens once. The
 * response is stored in the transaction of the effect (db/ambient-transaction.ts), so one never exists without the
 * other. During the request, an advisory lock of that transaction marks the key as in use. A request that waits for
 * another host (http/org-request-slots.ts) holds neither meanwhile, and checks again afterwards. Only 2xx responses are
 * stored: a failed request has had no effect and may be retried.
 */
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { FairSemaphore } from '@acg/base/fairness/fair-semaphore';
import { noop } from '@acg/base/noop';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type AmbientTransaction, runInAmbientTransaction } from '../db/ambient-transaction.js';
import type { Sql, Tx } from '../db/postgres-client.js';
import { waitForConnectionClose } from '../db/reserved-connection.js';
import { Conflict, createQueueFullError, InvalidInput, RequestInProgress } from '../domain/errors.js';
import type { RouteEntry } from '../http/record-declared-routes.js';
import { withSecretByteSource } from '../http/same-token-bytes-on-idempotent-retry.js';
import * as store from './stored-responses.js';

const IDEMPOTENCY_KEY_CHARS_MAX = 255;
/** Each request holds a connection until its response: a part of the pool, granted to organizations in turn. */
const RUNNING_MAX = 4;
const WAITING_MAX = 64;
/**
 * Excludes routes that send mails, log in, count wrong codes or end sessions, and routes that wait for providers: tests of
 * credentials change nothing, a check of a bill can be repeated, and a connection belongs to a browser and a code.
 */
const EXCLUDED_ROUTES =
  /^\/v1\/(?:(?:auth|second-factor|sso|session|sessions|members|invitations|connections)(?:\/|$)|(?:providers\/accounts|credentials)\/(?:[^/]+\/)?(?:test|connect|disconnect)$|billing\/accounts\/[^/]+\/check$)/;
const ROLLED_BACK = new Error('rolled back');

interface IdempotentRequest {
  readonly identity: store.IdempotencyKeyIdentity;
  readonly salt: Buffer;
  readonly fingerprint: Buffer;
  readonly joinedTransaction: Mutable<AmbientTransaction>;
  /** In hex, as in the response body, in the order in which they were requested. */
  readonly secrets: string[];
  /** Null while paused. */
  transaction: OpenTransaction | null;
}

type Mutable<T> = { -readonly [Name in keyof T]: T[Name] };

/** An open transaction that holds the key, a slot and a connection until it is completed. */
interface OpenTransaction {
  readonly tx: Tx;
  /** Runs `last` before the commit. Null rolls the transaction back. */
  complete(last: (() => Promise<void>) | null): void;
  /** Resolves when the transaction is committed or rolled back; rejects when the commit failed. */
  readonly finished: Promise<void>;
}

interface ReplayedResponse {
  readonly stored: store.StoredResponse;
}

export class Idempotency {
  readonly #semaphore = new FairSemaphore({
    runningMax: RUNNING_MAX,
    waitingMax: WAITING_MAX,
    createError: () => createQueueFullError('calls with an Idempotency-Key'),
    fraction: 1 / 2,
  });
  readonly #requests = new WeakMap<FastifyRequest, IdempotentRequest>();
  /** The first key creates fingerprints, all keys verify them. */
  #fingerprintKeys!: readonly Buffer[];

  /** `pool` must not join the ambient transaction, because each transaction here is independent. */
  constructor(
    readonly pool: Sql,
    masterKeys: readonly Buffer[],
  ) {
    this.replaceKeys(masterKeys);
  }

  replaceKeys(masterKeys: readonly Buffer[]): void {
    this.#fingerprintKeys = masterKeys.map((key) => createHmac('sha256', key).update('idempotency').digest());
  }

  /** Must be called after all hooks that decide whether the request is allowed. */
  install(app: FastifyInstance): void {
    app.addHook('preHandler', (request, reply, done) => {
      let key: string | null;
      try {
        key = readIdempotencyKey(request);
      } catch (error) {
        done(error as Error);
        return;
      }
      if (key === null) done();
      else
        this.#beginRequest(request, key).then(
          (begun) => this.#replayOrContinue(request, reply, key, begun, done),
          done,
        );
    });
    app.addHook('onSend', async (request, reply, payload) => {
      const idempotentRequest = this.#requests.get(request);
      if (idempotentRequest === undefined) return;
      this.#requests.delete(request);
      await waitForConnectionClose();
      const { transaction: opened, joinedTransaction: joined } = idempotentRequest;
      if (opened === null) return; // the wait for another host ended, but the transaction could not be reopened
      const isTransactionLost = joined.failure !== null; // then the connection must not be used any more, not even to roll back
      const isSuccess = reply.statusCode >= 200 && reply.statusCode < 300;
      const shouldStore = isSuccess && typeof payload === 'string';
      joined.state = 'ended';
      if (!isTransactionLost)
        opened.complete(
          shouldStore ? () => storeSuccessfulResponse(idempotentRequest, reply.statusCode, payload) : null,
        );
      // A rejection is sent as it is, even when the connection for its rollback is lost: the request has had no effect.
      await (isSuccess ? opened.finished : opened.finished.catch(noop));
    });
  }

  #replayOrContinue(
    request: FastifyRequest,
    reply: FastifyReply,
    key: string,
    begun: ReplayedResponse | IdempotentRequest,
    done: (error?: Error) => void,
  ): void {
    if ('stored' in begun) {
      try {
        if (!this.#isSameRequest(request, begun.stored)) {
          throw new Conflict('this Idempotency-Key was used for another call: use a new key');
        }
        const body = this.#restoreSecrets(begun.stored, key);
        void reply.code(begun.stored.status).header('idempotency-replayed', 'true');
        void reply.type('application/json; charset=utf-8').send(body);
      } catch (error) {
        done(error as Error);
      }
      return;
    }
    this.#requests.set(request, begun);
    const nextSecret = (): Buffer => {
      const secret = deriveSecretBytes(this.#fingerprintKeys[0]!, begun.salt, begun.secrets.length, key);
      begun.secrets.push(secret.toString('hex'));
      return secret;
    };
    runInAmbientTransaction(begun.joinedTransaction, () => withSecretByteSource(nextSecret, done));
  }

  async #beginRequest(request: FastifyRequest, key: string): Promise<ReplayedResponse | IdempotentRequest> {
    const { actor } = request;
    const identity = {
      orgId: actor.orgId,
      actorId: actor.token?.id ?? actor.userId,
      keyHash: createHash('sha256').update(key).digest(),
    };
    let rejectLost: (error: Error) => void = noop;
    const lost = new Promise<never>((_, reject) => {
      rejectLost = reject;
    });
    lost.catch(noop); // avoids an unhandled rejection when no code waits for it
    const fail = (error: Error): void => {
      joined.failure = error;
      rejectLost(error);
    };
    const firstAttempt = await this.#openTransaction(identity, fail);
    if ('stored' in firstAttempt) return firstAttempt;
    const joined: IdempotentRequest['joinedTransaction'] = {
      tx: firstAttempt.tx,
      state: 'open',
      failure: null,
      connectionLost: lost,
      async pause() {
        if (await store.hasTransactionWritten(joined.tx)) throw new Error('paused after something was written');
        joined.state = 'paused';
        const { transaction: opened } = idempotentRequest;
        idempotentRequest.transaction = null;
        opened!.complete(null);
        await opened!.finished;
      },
      resume: async () => {
        const reopened = await this.#openTransaction(identity, fail);
        if ('stored' in reopened) throw new RequestInProgress(); // the same request was faster: a retry gets its response
        idempotentRequest.transaction = reopened;
        joined.tx = reopened.tx;
        joined.state = 'open';
      },
    };
    const salt = randomBytes(16);
    const fingerprint = fingerprintRequest(this.#fingerprintKeys[0]!, salt, request);
    const idempotentRequest: IdempotentRequest = {
      identity,
      salt,
      fingerprint,
      joinedTransaction: joined,
      secrets: [],
      transaction: firstAttempt,
    };
    return idempotentRequest;
  }

  /**
   * Opens the transaction and leaves it open, unless a response is stored already. `fail` is called when it fails after
   * that.
   */
  #openTransaction(
    identity: store.IdempotencyKeyIdentity,
    fail: (error: Error) => void,
  ): Promise<ReplayedResponse | OpenTransaction> {
    return new Promise((resolve, reject) => {
      let finish: { resolve(): void; reject(error: unknown): void } | null = null;
      const work = async (tx: Tx): Promise<void> => {
        const isOurs = await store.tryLockIdempotencyKey(tx, identity);
        // Checked in any case: the holder of the lock may only be replaying the stored response.
        const stored = await store.loadStoredResponse(tx, identity);
        if (stored !== null) {
          resolve({ stored });
          return;
        }
        if (!isOurs) throw new RequestInProgress();
        let complete: OpenTransaction['complete'] = noop;
        const completed = new Promise<Parameters<OpenTransaction['complete']>[0]>((resolveCompleted) => {
          complete = resolveCompleted;
        });
        const finished = new Promise<void>((committed, failed) => {
          finish = { resolve: committed, reject: failed };
        });
        finished.catch(noop); // avoids an unhandled rejection; awaited when the response is sent, which may be later
        resolve({ tx, complete: complete, finished });
        const last = await completed;
        if (last === null) throw ROLLED_BACK;
        await last();
      };
      this.#semaphore
        .run(identity.orgId, () => this.pool.begin(work))
        .then(
          () => finish?.resolve(),
          (error: unknown) => {
            if (error === ROLLED_BACK) finish?.resolve();
            else if (finish === null) reject(error as Error);
            else {
              fail(error as Error);
              finish.reject(error);
            }
          },
        );
    });
  }

  #isSameRequest(request: FastifyRequest, { salt, fingerprint }: store.StoredResponse): boolean {
    return this.#fingerprintKeys.some((key) => timingSafeEqual(fingerprintRequest(key, salt, request), fingerprint));
  }

  #restoreSecrets({ salt, secretHashes, body }: store.StoredResponse, key: string): string {
    let restoredBody = body;
    for (const [n, hash] of secretHashes.entries()) {
      const secret = this.#fingerprintKeys
        .map((serverKey) => deriveSecretBytes(serverKey, salt, n, key).toString('hex'))
        .find((candidate) => createHash('sha256').update(candidate).digest().equals(hash));
      if (secret === undefined)
        throw new Conflict(
          'the stored response held a secret that can no longer be restored: use a new Idempotency-Key',
        );
      restoredBody = restoredBody.replaceAll(secretPlaceholder(salt, n), secret);
    }
    return restoredBody;
  }
}

/** On other routes the header has no effect. */
export const acceptsIdempotencyKey = ({
  method,
  url,
  access,
}: Pick<RouteEntry, 'method' | 'url' | 'access'>): boolean =>
  method === 'POST' && access !== 'public' && !EXCLUDED_ROUTES.test(url);

function readIdempotencyKey({ method, headers, routeOptions }: FastifyRequest): string | null {
  const key = headers['idempotency-key'];
  const { url = '', config } = routeOptions;
  if (key === undefined || !acceptsIdempotencyKey({ method, url, access: config.access ?? 'public' })) return null;
  if (typeof key === 'string' && key !== '' && key.length <= IDEMPOTENCY_KEY_CHARS_MAX) return key;
  throw new InvalidInput(`the header Idempotency-Key must have 1 to ${IDEMPOTENCY_KEY_CHARS_MAX} characters`);
}

const fingerprintRequest = (serverKey: Buffer, salt: Buffer, { url, body }: FastifyRequest): Buffer =>
  createHmac('sha256', serverKey)
    .update(salt)
    .update(`${url}\n${JSON.stringify(body ?? null)}`)
    .digest();

const deriveSecretBytes = (serverKey: Buffer, salt: Buffer, n: number, key: string): Buffer =>
  createHmac('sha256', serverKey).update(salt).update(`secret ${n}\n${key}`).digest();

function storeSuccessfulResponse(idempotentRequest: IdempotentRequest, status: number, payload: string): Promise<void> {
  const { identity, salt, fingerprint, secrets, joinedTransaction: joined } = idempotentRequest;
  const secretHashes = secrets.map((secret) => createHash('sha256').update(secret).digest());
  const body = replaceSecretsWithPlaceholders(payload, idempotentRequest);
  return store.storeResponse(joined.tx, identity, { salt, fingerprint, secretHashes, status, body });
}

/** Clients cannot put a placeholder into a body beforehand: the salt is random. */
const secretPlaceholder = (salt: Buffer, n: number): string => `{secret ${n} ${salt.toString('hex')}}`;

const replaceSecretsWithPlaceholders = (body: string, { secrets, salt }: IdempotentRequest): string =>
  secrets.reduce((text, secret, n) => text.replaceAll(secret, secretPlaceholder(salt, n)), body);

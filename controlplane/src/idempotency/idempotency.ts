/**
 * `Idempotency-Key` on a POST: the same call sent again gets the first answer again, and nothing happens twice. The row
 * that says so is written in the transaction of the effect (db/joined-transaction), so neither is there without the other;
 * while it runs, an advisory lock of that transaction stands for it. A call that waits for somebody else's machine first
 * (http/request-turns.ts) holds neither meanwhile, and asks again afterwards. Only 2xx answers are kept: what failed has done
 * nothing and may be tried again.
 */
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { noop } from '@acg/base/noop';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { FairSemaphore } from '../concurrency/fair-semaphore.js';
import { type AmbientTransaction, runInAmbientTransaction } from '../db/ambient-transaction.js';
import { waitForConnectionClose } from '../db/reserved-connection.js';
import type { Sql, Tx } from '../db/sql.js';
import { Conflict, InvalidInput, RequestInProgress } from '../domain/errors.js';
import type { RouteEntry } from '../http/route-table.js';
import { withSecretByteSource } from '../http/secret-bytes.js';
import * as store from './stored-responses.js';

const IDEMPOTENCY_KEY_CHARS_MAX = 255;
/** Each holds a connection until its answer: a part of the pool, organization by organization in turn. */
const RUNNING_MAX = 4;
const WAITING_MAX = 64;
/** Not for what mails, logs in or ends sessions, nor for tests of credentials, which wait for others and change nothing twice. */
const EXCLUDED_ROUTES =
  /^\/v1\/(?:(?:auth|session|sessions|members|invitations)(?:\/|$)|(?:providers\/accounts|credentials)\/(?:[^/]+\/)?test$)/;
const ROLLED_BACK = new Error('rolled back');

interface IdempotentRequest {
  readonly identity: store.IdempotencyKeyIdentity;
  readonly salt: Buffer;
  readonly fingerprint: Buffer;
  readonly joinedTransaction: Mutable<AmbientTransaction>;
  /** In hex, as they stand in the answer; in the order in which they were asked for. */
  readonly secrets: string[];
  /** Null: paused. */
  transaction: OpenTransaction | null;
}

type Mutable<T> = { -readonly [Name in keyof T]: T[Name] };

/** A transaction that holds the key, a place and a connection until it is concluded. */
interface OpenTransaction {
  readonly tx: Tx;
  /** `last` is written before the commit. Null: it is rolled back. */
  complete(last: (() => Promise<void>) | null): void;
  /** Resolves when it is committed or rolled back, rejects when the commit failed. */
  readonly finished: Promise<void>;
}

interface ReplayedResponse {
  readonly kept: store.StoredResponse;
}

export class Idempotency {
  readonly #semaphore = new FairSemaphore({
    runningMax: RUNNING_MAX,
    waitingMax: WAITING_MAX,
    subject: 'calls with an Idempotency-Key',
    freeRatio: 1,
  });
  readonly #requests = new WeakMap<FastifyRequest, IdempotentRequest>();
  /** The first makes, all recognise. */
  readonly #fingerprintKeys: readonly Buffer[];

  /** `pool`: not one that joins, as each transaction is one of its own. */
  constructor(
    readonly pool: Sql,
    masterKeys: readonly Buffer[],
  ) {
    this.#fingerprintKeys = masterKeys.map((key) => createHmac('sha256', key).update('idempotency').digest());
  }

  /** Called after all that decides whether the call is allowed. */
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
      const run = this.#requests.get(request);
      if (run === undefined) return;
      this.#requests.delete(request);
      await waitForConnectionClose();
      const { transaction: opened, joinedTransaction: joined } = run;
      if (opened === null) return; // what it waited for came back, but the transaction did not
      const gone = joined.failure !== null; // then nobody may speak to it any more, not even to roll back
      const isSuccess = reply.statusCode >= 200 && reply.statusCode < 300;
      const keep = isSuccess && typeof payload === 'string';
      joined.state = 'over';
      if (!gone) opened.complete(keep ? () => storeSuccessfulResponse(run, reply.statusCode, payload) : null);
      // A refusal is sent as it is, also where the connection that was to roll it back has gone: nothing has happened.
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
    if ('kept' in begun) {
      try {
        if (!this.#isSameRequest(request, begun.kept)) {
          throw new Conflict('this Idempotency-Key was used for another call: take a new one');
        }
        const body = this.#restoreSecrets(begun.kept, key);
        void reply.code(begun.kept.status).header('idempotency-replayed', 'true');
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
    let giveUp: (error: Error) => void = noop;
    const lost = new Promise<never>((_, reject) => {
      giveUp = reject;
    });
    lost.catch(noop); // for whoever waits for something then
    const fail = (error: Error): void => {
      joined.failure = error;
      giveUp(error);
    };
    const first = await this.#openTransaction(identity, fail);
    if ('kept' in first) return first;
    const joined: IdempotentRequest['joinedTransaction'] = {
      tx: first.tx,
      state: 'open',
      failure: null,
      connectionLost: lost,
      async pause() {
        if (await store.hasTransactionWritten(joined.tx)) throw new Error('paused after something was written');
        joined.state = 'paused';
        const { transaction: opened } = run;
        run.transaction = null;
        opened!.complete(null);
        await opened!.finished;
      },
      resume: async () => {
        const again = await this.#openTransaction(identity, fail);
        if ('kept' in again) throw new RequestInProgress(); // the same call was faster: asked once more, it gets that answer
        run.transaction = again;
        joined.tx = again.tx;
        joined.state = 'open';
      },
    };
    const salt = randomBytes(16);
    const fingerprint = fingerprintRequest(this.#fingerprintKeys[0]!, salt, request);
    const run: IdempotentRequest = {
      identity,
      salt,
      fingerprint,
      joinedTransaction: joined,
      secrets: [],
      transaction: first,
    };
    return run;
  }

  /** Opens the transaction and leaves it open, unless the call was answered before. `fail`: it failed afterwards. */
  #openTransaction(
    identity: store.IdempotencyKeyIdentity,
    fail: (error: Error) => void,
  ): Promise<ReplayedResponse | OpenTransaction> {
    return new Promise((resolve, reject) => {
      let finish: { resolve(): void; reject(error: unknown): void } | null = null;
      const work = async (tx: Tx): Promise<void> => {
        const isOurs = await store.tryLockIdempotencyKey(tx, identity);
        // Looked for in any case: who holds the lock may only be giving the answer again.
        const kept = await store.loadStoredResponse(tx, identity);
        if (kept !== null) {
          resolve({ kept });
          return;
        }
        if (!isOurs) throw new RequestInProgress();
        let conclude: OpenTransaction['complete'] = noop;
        const concluded = new Promise<Parameters<OpenTransaction['complete']>[0]>((taken) => {
          conclude = taken;
        });
        const finished = new Promise<void>((committed, failed) => {
          finish = { resolve: committed, reject: failed };
        });
        finished.catch(noop); // heard of when the answer is sent, which may be later
        resolve({ tx, complete: conclude, finished });
        const last = await concluded;
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
    let whole = body;
    for (const [n, hash] of secretHashes.entries()) {
      const secret = this.#fingerprintKeys
        .map((serverKey) => deriveSecretBytes(serverKey, salt, n, key).toString('hex'))
        .find((candidate) => createHash('sha256').update(candidate).digest().equals(hash));
      if (secret === undefined) throw new Conflict('the answer held a secret that cannot be shown again');
      whole = whole.replaceAll(secretPlaceholder(salt, n), secret);
    }
    return whole;
  }
}

/** Elsewhere the header is of no effect. */
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

function storeSuccessfulResponse(run: IdempotentRequest, status: number, payload: string): Promise<void> {
  const { identity, salt, fingerprint, secrets, joinedTransaction: joined } = run;
  const secretHashes = secrets.map((secret) => createHash('sha256').update(secret).digest());
  const body = replaceSecretsWithPlaceholders(payload, run);
  return store.storeResponse(joined.tx, identity, { salt, fingerprint, secretHashes, status, body });
}

/** Nobody can write it into a body beforehand: the salt is new. */
const secretPlaceholder = (salt: Buffer, n: number): string => `{secret ${n} ${salt.toString('hex')}}`;

const replaceSecretsWithPlaceholders = (body: string, { secrets, salt }: IdempotentRequest): string =>
  secrets.reduce((text, secret, n) => text.replaceAll(secret, secretPlaceholder(salt, n)), body);

/**
 * `Idempotency-Key` on a POST: the same call sent again gets the first answer again, and nothing happens twice. The row
 * that says so is written in the transaction of the effect (db/joined-transaction), so neither is there without the other;
 * while it runs, an advisory lock of that transaction stands for it. A call that waits for somebody else's machine first
 * (http/request-turns.ts) holds neither meanwhile, and asks again afterwards. Only 2xx answers are kept: what failed has done
 * nothing and may be tried again.
 */
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { ignore } from '@acg/base/ignore';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type JoinedTransaction, runJoined } from '../db/joined-transaction.js';
import { endHeard } from '../db/reserved-connection.js';
import type { Sql, Tx } from '../db/sql.js';
import { Conflict, InvalidInput, StillRunning } from '../domain/errors.js';
import { FairPlaces } from '../domain/fair-places.js';
import type { RouteEntry } from '../http/route-table.js';
import { withSecretBytes } from '../http/secret-bytes.js';
import * as store from './idempotency-store.js';

const KEY_LENGTH_MAX = 255;
/** Each holds a connection until its answer: a part of the pool, organization by organization in turn. */
const RUNNING_MAX = 4;
const WAITING_MAX = 64;
/** Not for what mails, logs in or ends sessions, nor for tests of credentials, which wait for others and change nothing twice. */
const EXCLUDED =
  /^\/v1\/(?:(?:auth|session|sessions|members|invitations)(?:\/|$)|(?:providers\/accounts|credentials)\/(?:[^/]+\/)?test$)/;
const ROLLED_BACK = new Error('rolled back');

interface Run {
  readonly identity: store.KeyIdentity;
  readonly salt: Buffer;
  readonly fingerprint: Buffer;
  readonly joined: Mutable<JoinedTransaction>;
  /** In hex, as they stand in the answer; in the order in which they were asked for. */
  readonly secrets: string[];
  /** Null: paused. */
  opened: Opened | null;
}

type Mutable<T> = { -readonly [Name in keyof T]: T[Name] };

/** A transaction that holds the key, a place and a connection until it is concluded. */
interface Opened {
  readonly tx: Tx;
  /** `last` is written before the commit. Null: it is rolled back. */
  conclude(last: (() => Promise<void>) | null): void;
  /** Resolves when it is committed or rolled back, rejects when the commit failed. */
  readonly finished: Promise<void>;
}

interface Kept {
  readonly kept: store.KeptAnswer;
}

export class Idempotency {
  readonly #places = new FairPlaces({
    runningMax: RUNNING_MAX,
    waitingMax: WAITING_MAX,
    what: 'calls with an Idempotency-Key',
    freeRatio: 1,
  });
  readonly #runs = new WeakMap<FastifyRequest, Run>();
  /** The first makes, all recognise. */
  readonly #keys: readonly Buffer[];

  /** `pool`: not one that joins, as each transaction is one of its own. */
  constructor(
    readonly pool: Sql,
    masterKeys: readonly Buffer[],
  ) {
    this.#keys = masterKeys.map((key) => createHmac('sha256', key).update('idempotency').digest());
  }

  /** Called after all that decides whether the call is allowed. */
  install(app: FastifyInstance): void {
    app.addHook('preHandler', (request, reply, done) => {
      let key: string | null;
      try {
        key = keyOf(request);
      } catch (error) {
        done(error as Error);
        return;
      }
      if (key === null) done();
      else this.#begin(request, key).then((begun) => this.#goOn(request, reply, key, begun, done), done);
    });
    app.addHook('onSend', async (request, reply, payload) => {
      const run = this.#runs.get(request);
      if (run === undefined) return;
      this.#runs.delete(request);
      await endHeard();
      const { opened, joined } = run;
      if (opened === null) return; // what it waited for came back, but the transaction did not
      const gone = joined.failure !== null; // then nobody may speak to it any more, not even to roll back
      const isSuccess = reply.statusCode >= 200 && reply.statusCode < 300;
      const keep = isSuccess && typeof payload === 'string';
      joined.state = 'over';
      if (!gone) opened.conclude(keep ? () => keepAnswer(run, reply.statusCode, payload) : null);
      // A refusal is sent as it is, also where the connection that was to roll it back has gone: nothing has happened.
      await (isSuccess ? opened.finished : opened.finished.catch(ignore));
    });
  }

  #goOn(
    request: FastifyRequest,
    reply: FastifyReply,
    key: string,
    begun: Kept | Run,
    done: (error?: Error) => void,
  ): void {
    if ('kept' in begun) {
      try {
        if (!this.#sameCall(request, begun.kept)) {
          throw new Conflict('this Idempotency-Key was used for another call: take a new one');
        }
        const body = this.#withSecrets(begun.kept, key);
        void reply.code(begun.kept.status).header('idempotency-replayed', 'true');
        void reply.type('application/json; charset=utf-8').send(body);
      } catch (error) {
        done(error as Error);
      }
      return;
    }
    this.#runs.set(request, begun);
    const nextSecret = (): Buffer => {
      const secret = derive(this.#keys[0]!, begun.salt, begun.secrets.length, key);
      begun.secrets.push(secret.toString('hex'));
      return secret;
    };
    runJoined(begun.joined, () => withSecretBytes(nextSecret, done));
  }

  async #begin(request: FastifyRequest, key: string): Promise<Kept | Run> {
    const { actor } = request;
    const identity = {
      orgId: actor.orgId,
      actorId: actor.token?.id ?? actor.userId,
      keyHash: createHash('sha256').update(key).digest(),
    };
    let giveUp: (error: Error) => void = ignore;
    const lost = new Promise<never>((_, reject) => {
      giveUp = reject;
    });
    lost.catch(ignore); // for whoever waits for something then
    const fail = (error: Error): void => {
      joined.failure = error;
      giveUp(error);
    };
    const first = await this.#open(identity, fail);
    if ('kept' in first) return first;
    const joined: Run['joined'] = {
      tx: first.tx,
      state: 'open',
      failure: null,
      lost,
      async pause() {
        if (await store.hasWritten(joined.tx)) throw new Error('paused after something was written');
        joined.state = 'paused';
        const { opened } = run;
        run.opened = null;
        opened!.conclude(null);
        await opened!.finished;
      },
      resume: async () => {
        const again = await this.#open(identity, fail);
        if ('kept' in again) throw new StillRunning(); // the same call was faster: asked once more, it gets that answer
        run.opened = again;
        joined.tx = again.tx;
        joined.state = 'open';
      },
    };
    const salt = randomBytes(16);
    const fingerprint = fingerprintOf(this.#keys[0]!, salt, request);
    const run: Run = { identity, salt, fingerprint, joined, secrets: [], opened: first };
    return run;
  }

  /** Opens the transaction and leaves it open, unless the call was answered before. `fail`: it failed afterwards. */
  #open(identity: store.KeyIdentity, fail: (error: Error) => void): Promise<Kept | Opened> {
    return new Promise((resolve, reject) => {
      let finish: { resolve(): void; reject(error: unknown): void } | null = null;
      const work = async (tx: Tx): Promise<void> => {
        const isOurs = await store.tryLockKey(tx, identity);
        // Looked for in any case: who holds the lock may only be giving the answer again.
        const kept = await store.loadAnswer(tx, identity);
        if (kept !== null) {
          resolve({ kept });
          return;
        }
        if (!isOurs) throw new StillRunning();
        let conclude: Opened['conclude'] = ignore;
        const concluded = new Promise<Parameters<Opened['conclude']>[0]>((taken) => {
          conclude = taken;
        });
        const finished = new Promise<void>((committed, failed) => {
          finish = { resolve: committed, reject: failed };
        });
        finished.catch(ignore); // heard of when the answer is sent, which may be later
        resolve({ tx, conclude, finished });
        const last = await concluded;
        if (last === null) throw ROLLED_BACK;
        await last();
      };
      this.#places
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

  #sameCall(request: FastifyRequest, { salt, fingerprint }: store.KeptAnswer): boolean {
    return this.#keys.some((key) => timingSafeEqual(fingerprintOf(key, salt, request), fingerprint));
  }

  #withSecrets({ salt, secretHashes, body }: store.KeptAnswer, key: string): string {
    let whole = body;
    for (const [n, hash] of secretHashes.entries()) {
      const secret = this.#keys
        .map((serverKey) => derive(serverKey, salt, n, key).toString('hex'))
        .find((candidate) => createHash('sha256').update(candidate).digest().equals(hash));
      if (secret === undefined) throw new Conflict('the answer held a secret that cannot be shown again');
      whole = whole.replaceAll(placeholder(salt, n), secret);
    }
    return whole;
  }
}

/** Elsewhere the header is of no effect. */
export const takesIdempotencyKey = ({ method, url, access }: Pick<RouteEntry, 'method' | 'url' | 'access'>): boolean =>
  method === 'POST' && access !== 'public' && !EXCLUDED.test(url);

function keyOf({ method, headers, routeOptions }: FastifyRequest): string | null {
  const key = headers['idempotency-key'];
  const { url = '', config } = routeOptions;
  if (key === undefined || !takesIdempotencyKey({ method, url, access: config.access ?? 'public' })) return null;
  if (typeof key === 'string' && key !== '' && key.length <= KEY_LENGTH_MAX) return key;
  throw new InvalidInput(`the header Idempotency-Key must have 1 to ${KEY_LENGTH_MAX} characters`);
}

const fingerprintOf = (serverKey: Buffer, salt: Buffer, { url, body }: FastifyRequest): Buffer =>
  createHmac('sha256', serverKey)
    .update(salt)
    .update(`${url}\n${JSON.stringify(body ?? null)}`)
    .digest();

const derive = (serverKey: Buffer, salt: Buffer, n: number, key: string): Buffer =>
  createHmac('sha256', serverKey).update(salt).update(`secret ${n}\n${key}`).digest();

function keepAnswer(run: Run, status: number, payload: string): Promise<void> {
  const { identity, salt, fingerprint, secrets, joined } = run;
  const secretHashes = secrets.map((secret) => createHash('sha256').update(secret).digest());
  const body = withoutSecrets(payload, run);
  return store.keepAnswer(joined.tx, identity, { salt, fingerprint, secretHashes, status, body });
}

/** Nobody can write it into a body beforehand: the salt is new. */
const placeholder = (salt: Buffer, n: number): string => `{secret ${n} ${salt.toString('hex')}}`;

const withoutSecrets = (body: string, { secrets, salt }: Run): string =>
  secrets.reduce((text, secret, n) => text.replaceAll(secret, placeholder(salt, n)), body);

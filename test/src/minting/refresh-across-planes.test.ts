/**
 * Refreshes by three control planes whose clocks differ, with a kill -9 at each step. The database's clock is turned
 * forward where a lease or a life has to end.
 */
import type postgres from 'postgres';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { holdPostgresLock } from '../fixtures/hold-postgres-lock.js';
import { waitUntil } from '../fixtures/wait-until.js';
import { clientOf } from '../stand-in-providers/rotating-grants.js';
import type { TokenRequest } from '../stand-in-providers/token-endpoint.js';
import { type MintedAccount, MintingCluster, startPlane } from './minting-cluster.js';

const CALLS = 1_000;
const LANES = 8;
const GENERATIONS_MIN = 3;
/** One second of a test is so many of a token's life. */
const COMPRESSION = 10;
const VICTIM = 2;

const cluster = new MintingCluster();
/** What the token endpoint does with a refresh, before it answers. */
let beforeRefresh: ((client: string) => Promise<void>) | null = null;
/** The answer of a refresh is lost. */
let losesAnswer = false;

beforeAll(async () => {
  await cluster.start();
  cluster.endpoint.respond = async (request: TokenRequest) => {
    const client = clientOf(request);
    const isConnected = request.parameters.get('grant_type') !== 'client_credentials';
    const answer = isConnected ? cluster.grants.answer(request) : undefined;
    if (request.parameters.get('grant_type') === 'authorization_code') return answer;
    const loses = losesAnswer;
    await beforeRefresh?.(client);
    return loses ? null : answer;
  };
});
afterAll(() => cluster.stop());
beforeEach(() => {
  beforeRefresh = null;
  losesAnswer = false;
  cluster.endpoint.lifetimeS = 3_600;
});

const readRow = async ({ id }: MintedAccount) => {
  const [row] = await cluster.sql<{ generation: string; failure: string | null; isLeased: boolean; used: boolean }[]>`
    select generation, failure, lease_until > now() as "isLeased", used from minted_credentials where account_id = ${id}`;
  return row!;
};
const makeDue = (accounts: readonly MintedAccount[]) => cluster.sql`
  update minted_credentials set refresh_at = now(), used = true, next_attempt_at = '-infinity'
   where account_id in ${cluster.sql(accounts.map(({ id }) => id))}`;

async function waitForRefresh(account: MintedAccount, former: string): Promise<void> {
  await waitUntil(`${account.client} is refreshed`, async () => (await readRow(account)).generation !== former);
}

const stateOf = async ({ id }: MintedAccount) => {
  const { body } = await cluster.call(0, 'PATCH', `/v1/providers/accounts/${id}`, { allowOpaque: false });
  return body.account.minted;
};

/** Lives pass faster in the database and at the provider, and each generation is noted. */
async function compressTime(): Promise<void> {
  await cluster.sql.unsafe(`
    create table generations (account_id uuid, generation bigint);
    create function compress_life() returns trigger language plpgsql as $$ begin
      if new.generation <> old.generation then
        new.expires_at := new.minted_at + (new.expires_at - new.minted_at) / ${COMPRESSION};
        new.refresh_at := new.minted_at + (new.refresh_at - new.minted_at) / ${COMPRESSION};
        insert into generations values (new.account_id, new.generation);
      end if;
      return new;
    end $$;
    create trigger compress_life before update on minted_credentials for each row execute function compress_life();`);
}
const restoreTime = () => cluster.sql.unsafe('drop function compress_life cascade; drop table generations');

test('clocks a minute ahead and behind: each control plane mints with signed assertions', async () => {
  const account = await cluster.createClientAccount('client-clock');
  for (let plane = 0; plane < cluster.planes.length; plane++) {
    const { body } = await cluster.call(plane, 'POST', `/v1/providers/accounts/${account.id}/test`);
    expect([plane, body.steps?.[0]]).toEqual([plane, expect.objectContaining({ ok: true })]);
  }
});

test('1 000 calls across expiries: one refresh for each generation, no refresh token twice, no 401', async () => {
  const client = await cluster.createClientAccount('client-busy');
  const strict = await cluster.createConnectedAccount('strict-busy', 'strict');
  await compressTime();
  cluster.endpoint.lifetimeS = 60;
  const ownIssue = cluster.endpoint.issue;
  cluster.endpoint.issue = () => {
    const token = ownIssue.call(cluster.endpoint);
    cluster.endsAtMs.set(token, performance.now() + (60 / COMPRESSION) * 1_000);
    return token;
  };
  const accounts = [client, strict];
  await cluster.sql`update minted_credentials set expires_at = now(), refresh_at = now() where account_id = ${strict.id}`;
  const before = accounts.map((account) => cluster.requestsOf(account));
  const answers = new Map<string, number>();
  let calls = 0;
  const generationsOf = async ({ id }: MintedAccount): Promise<number> => {
    const [row] = await cluster.sql<
      { n: number }[]
    >`select count(*)::int as n from generations where account_id = ${id}`;
    return row!.n;
  };
  const isDone = async (): Promise<boolean> =>
    [...answers.values()].reduce((sum, n) => sum + n, 0) >= CALLS &&
    Math.min(...(await Promise.all(accounts.map(generationsOf)))) >= GENERATIONS_MIN;
  const lane = async (): Promise<void> => {
    while (!(await isDone())) {
      const response = await accounts[calls++ % 2]!.call();
      const text = await response.text();
      // On a busy machine an exchange may take longer than a call waits; SDKs repeat the call then.
      if (response.status === 503 && response.headers.has('retry-after')) continue;
      answers.set(`${response.status} ${text}`, (answers.get(`${response.status} ${text}`) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  cluster.endpoint.issue = ownIssue;
  expect([...answers.keys()]).toEqual(['200 {"ok":true}']);
  for (const [i, account] of accounts.entries()) {
    // A refresh may be under way: its generation follows.
    await waitUntil('each refresh has stored one generation', async () => {
      const requests = cluster.requestsOf(account) - before[i]!;
      const generations = await generationsOf(account);
      expect(generations).toBeLessThanOrEqual(requests);
      return generations === requests;
    });
  }
  expect(cluster.grants.reuses).toEqual([]);
  await restoreTime();
  for (const { id } of accounts) await cluster.call(0, 'DELETE', `/v1/providers/accounts/${id}`);
});

/** Statements that wait for a lock and match. */
const countWaiters = async (pattern: string): Promise<number> => {
  const [row] = await cluster.sql<{ n: number }[]>`
    select count(*)::int as n from pg_stat_activity
     where datname = current_database() and wait_event_type = 'Lock' and query ilike ${pattern}`;
  return row!.n;
};

/** Pauses all control planes but the victim, none of them inside a transaction. */
async function pauseOthers(): Promise<() => void> {
  const others = cluster.planes.filter((_, index) => index !== VICTIM);
  const resume = (): void => {
    for (const { plane } of others) plane.resume();
  };
  await waitUntil('no other control plane holds a lock', async () => {
    for (const { plane } of others) plane.pause();
    const [row] = await cluster.sql<{ n: number }[]>`
      select count(*)::int as n from pg_stat_activity
       where datname = current_database() and state like 'idle in transaction%'`;
    if (row!.n > 0) resume();
    return row!.n === 0;
  });
  return resume;
}

type Step = (
  accounts: readonly MintedAccount[],
) => Promise<{ readonly reached: () => Promise<unknown>; readonly release: () => Promise<unknown> }>;

const holdAll = async (lock: (tx: postgres.TransactionSql) => Promise<unknown>, pattern: string, count: number) => {
  const release = await holdPostgresLock(cluster.sql as never, lock as never);
  return { reached: () => waitUntil(pattern, async () => (await countWaiters(pattern)) >= count), release };
};

/** Returns a promise that all clients have sent their request, before they get an answer. */
function holdRequests(accounts: readonly MintedAccount[]) {
  const arrived = new Set<string>();
  let answer = (): void => {};
  const isReleased = new Promise<void>((resolve) => {
    answer = resolve;
  });
  beforeRefresh = async (client) => {
    arrived.add(client);
    await isReleased;
  };
  return { arrive: () => waitUntil('all requests arrive', () => arrived.size === accounts.length), answer };
}

const STEPS: Readonly<Record<string, Step>> = {
  'before the request': async (accounts) =>
    holdAll(
      (tx) => tx`lock table custom_providers in access exclusive mode`,
      '%from minted_credentials m%',
      accounts.length,
    ),
  'after the request': async (accounts) => {
    losesAnswer = true;
    const { arrive, answer } = holdRequests(accounts);
    return { reached: arrive, release: async () => answer() };
  },
  'with the answer, which is not stored': async (accounts) => {
    const { arrive, answer } = holdRequests(accounts);
    const pattern = '%update minted_credentials m%';
    let release = async (): Promise<unknown> => answer();
    return {
      reached: async () => {
        await arrive();
        const ids = accounts.map(({ id }) => id);
        const held = await holdAll(
          (tx) => tx`select from minted_credentials where account_id in ${tx(ids)} for update`,
          pattern,
          accounts.length,
        );
        release = held.release;
        answer();
        await held.reached();
      },
      release: () => release(),
    };
  },
  'with the token stored, which is not published': async (accounts) =>
    holdAll(
      (tx) => tx`select pg_advisory_xact_lock(hashtext('invalidations'))`,
      '%pg_advisory_xact_lock%',
      accounts.length,
    ),
};

let round = 0;
let decoys = 0;
async function createAccounts() {
  round++;
  const client = await cluster.createClientAccount(`client-${round}`);
  const grace = await cluster.createConnectedAccount(`grace-${round}`, 'grace');
  const strict = await cluster.createConnectedAccount(`strict-${round}`, 'strict');
  const accounts = [client, grace, strict] as const;
  for (const account of accounts) expect((await account.call()).status).toBe(200);
  await waitUntil('data planes have them', async () => {
    const rows = await Promise.all(accounts.map(readRow));
    return rows.every(({ used }) => used);
  });
  return accounts;
}

/** Some other refresh, which shows that the control planes that live look for what is due. */
async function refreshAnother(): Promise<void> {
  const decoy = await cluster.createClientAccount(`client-decoy-${decoys++}`);
  expect((await decoy.call()).status).toBe(200);
  const { generation } = await readRow(decoy);
  await makeDue([decoy]);
  await waitForRefresh(decoy, generation);
}

test.each(Object.entries(STEPS))('kill -9 %s: another control plane refreshes after the lease', async (name, step) => {
  const accounts = await createAccounts();
  const [client, grace, strict] = accounts;
  const former = await Promise.all(accounts.map(readRow));
  const before = accounts.map((account) => cluster.requestsOf(account));
  const requests = () => accounts.map((account, i) => cluster.requestsOf(account) - before[i]!);
  const resume = await pauseOthers();
  const { reached, release } = await step(accounts);
  await makeDue(accounts);
  await reached();
  await cluster.planes[VICTIM]!.plane.kill();
  resume();
  await release();
  beforeRefresh = null;
  losesAnswer = false;
  const sent = name === 'before the request' ? 0 : 1;
  // The former credentials serve, and no control plane repeats an exchange that may still be under way.
  await refreshAnother();
  for (const account of accounts)
    expect([account.client, (await account.call()).status]).toEqual([account.client, 200]);
  expect((await Promise.all(accounts.map(readRow))).map(({ isLeased, generation }) => [isLeased, generation])).toEqual(
    former.map(({ generation }) => [true, generation]),
  );
  expect(requests()).toEqual([sent, sent, sent]);

  await cluster.sql`update minted_credentials set lease_until = now() where lease_until > now()`;
  await waitForRefresh(client, former[0]!.generation);
  await waitForRefresh(grace, former[1]!.generation);
  // Of a strict grant the refresh token may be used up, so the present access token serves first.
  expect([await readRow(strict), requests()]).toMatchObject([
    { generation: former[2]!.generation, failure: null },
    [sent + 1, sent + 1, sent],
  ]);
  await cluster.sql`update minted_credentials set expires_at = now() + interval '5 seconds' where account_id = ${strict.id}`;
  await waitUntil('the strict grant was tried', () => cluster.requestsOf(strict) - before[2]! === sent + 1);
  const isLost = sent === 1;
  await waitUntil('the state of the strict grant', async () => {
    const { failure, generation } = await readRow(strict);
    return isLost ? failure === 'invalid_grant' : generation !== former[2]!.generation;
  });
  expect(await stateOf(strict)).toMatchObject(
    isLost
      ? { state: 'reconnect_needed', failure: { reason: 'invalid_grant', remedy: expect.stringContaining('Connect') } }
      : { state: 'active', failure: null },
  );
  expect([await stateOf(client), await stateOf(grace)]).toMatchObject([{ state: 'active' }, { state: 'active' }]);
  const { body } = await cluster.call(0, 'GET', '/v1/events?event=credential.refresh_failed&limit=100');
  const failed = body.events.filter(({ data }: { data: { accountId: string } }) =>
    accounts.some(({ id }) => id === data.accountId),
  );
  expect(failed.map(({ data }: { data: object }) => data)).toMatchObject(
    isLost ? [{ accountId: strict.id, reason: 'invalid_grant' }] : [],
  );
  if (isLost) {
    await cluster.connect(strict);
    expect(await stateOf(strict)).toMatchObject({ state: 'active' });
  }
  await startPlane(cluster.planes[VICTIM]!);
  await refreshAnother();
  for (const account of accounts)
    expect([account.client, (await account.call()).status]).toEqual([account.client, 200]);
  expect(requests().slice(0, 2)).toEqual([sent + 1, sent + 1]);
});

test('kill -9 after the token was stored: data planes get it from the other control planes, and nothing is lost', async () => {
  const accounts = await createAccounts();
  const former = await Promise.all(accounts.map(readRow));
  const before = accounts.map((account) => cluster.requestsOf(account));
  const sent = new Map(cluster.received);
  const resume = await pauseOthers();
  await makeDue(accounts);
  for (const [i, account] of accounts.entries()) await waitForRefresh(account, former[i]!.generation);
  await cluster.planes[VICTIM]!.plane.kill();
  resume();
  for (const account of accounts) {
    // The data planes take turns.
    let planesWithNewToken = 0;
    await waitUntil(`every data plane sends the new token of ${account.client}`, async () => {
      expect((await account.call()).status).toBe(200);
      const isNew = cluster.received.get(account.client) !== sent.get(account.client);
      planesWithNewToken = isNew ? planesWithNewToken + 1 : 0;
      return planesWithNewToken >= cluster.dataPlanes.length;
    });
  }
  expect(accounts.map((account, i) => cluster.requestsOf(account) - before[i]!)).toEqual([1, 1, 1]);
  await startPlane(cluster.planes[VICTIM]!);
});

/** Second factors: set up, login, confirmation before what cannot be undone, the policy, and attacks on all of them. */
import { randomBytes } from 'node:crypto';
import { Vault } from '@acg/controlplane/vault/aes-gcm-vault';
import { reencryptAll } from '@acg/controlplane/vault/reencrypt';
import { expect, test } from 'vitest';
import { showTotpCode } from '../fixtures/authenticator-app.js';
import { useControlPlane } from '../fixtures/control-plane.js';
import { countLockWaiters, holdPostgresLock } from '../fixtures/hold-postgres-lock.js';
import { waitUntil } from '../fixtures/wait-until.js';

const plane = useControlPlane();
const sql = () => plane().database.sql;
const PASSWORD = 'correct horse battery';

type Account = Awaited<ReturnType<typeof signUp>>;

async function signUp() {
  const email = `${randomBytes(5).toString('hex')}@example.com`;
  const body = { email, password: PASSWORD, name: 'Ada', orgName: 'Engines' };
  const { body: reply } = await plane().call('POST', '/v1/auth/signup', { body });
  await sql()`update users set email_verified_at = now() where id = ${reply.user.id}`;
  const call = (method: string, path: string, payload?: unknown) =>
    plane().call(method, path, { token: reply.token, body: payload });
  return { email, userId: reply.user.id as string, orgId: reply.org.id as string, token: reply.token as string, call };
}

/** Sets up a second factor. `code(n)`: the code of the n-th step from now; the first one counts as unused again. */
async function enable(account: Account) {
  const made = await account.call('POST', '/v1/second-factor', { password: PASSWORD });
  expect(made.status).toBe(201);
  expect(made.body.otpauthUrl).toContain(`secret=${made.body.secret}`);
  const code = (steps = 0) => showTotpCode(made.body.secret, steps);
  const enabled = await account.call('POST', '/v1/second-factor/confirm', { code: code() });
  expect(enabled.status).toBe(200);
  await forgetUse(account.userId);
  return { code, recoveryCodes: enabled.body.recoveryCodes as string[] };
}

/** As if no code had been accepted yet, and none had been tried. */
async function forgetUse(userId: string): Promise<void> {
  await sql()`update second_factors set last_step = -1 where user_id = ${userId}`;
  await sql()`delete from throttle_windows where key like ${`second-factor%${userId}`}`;
}

/** As if the session had not been confirmed for a while. */
const forgetConfirmation = ({ userId }: Account) =>
  sql()`update sessions set factor_at = now() - interval '11 minutes' where user_id = ${userId}`;

const login = (email: string, code?: string, password = PASSWORD) =>
  plane().call('POST', '/v1/auth/login', { body: { email, password, ...(code === undefined ? {} : { code }) } });

const auditActions = async ({ orgId }: Account): Promise<readonly string[]> =>
  (await sql()<{ action: string }[]>`select action from audit_entries where org_id = ${orgId}`).map(
    ({ action }) => action,
  );

test('set up: a password, then the first code; recovery codes, a mail, audit entries, and all other sessions end', async () => {
  const account = await signUp();
  const other = (await login(account.email)).body.token;
  expect((await account.call('POST', '/v1/second-factor', { password: 'not the password' })).status).toBe(403);
  expect((await account.call('POST', '/v1/second-factor/confirm', { code: '123456' })).status).toBe(409);
  expect((await account.call('GET', '/v1/second-factor')).body).toEqual({ enabledAt: null, recoveryCodesLeft: 0 });
  const { recoveryCodes } = await enable(account);
  expect(new Set(recoveryCodes).size).toBe(10);
  expect((await account.call('GET', '/v1/second-factor')).body).toEqual({
    enabledAt: expect.any(String),
    recoveryCodesLeft: 10,
  });
  expect((await plane().call('GET', '/v1/me', { token: other })).status).toBe(401);
  await plane().waitForMail(account.email, 'second factor of your account was changed');
  expect(await auditActions(account)).toEqual(expect.arrayContaining(['second_factor.create', 'second_factor.enable']));
  expect((await account.call('POST', '/v1/second-factor', { password: PASSWORD })).status).toBe(409);
  expect((await account.call('POST', '/v1/second-factor/confirm', { code: '123456' })).status).toBe(409);
});

/** Statements on second factors that wait for a lock. */
const lockWaits = async (): Promise<number> =>
  (
    await sql()`
      select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
         and query like '%second_factors%'`
  ).length;

/** Runs `work` while no request can change the row of the account. */
const whileLocked = ({ userId }: Account, work: (tx: ReturnType<typeof sql>) => Promise<unknown>) =>
  sql().begin(async (tx) => {
    await tx`select 1 from second_factors where user_id = ${userId} for update`;
    await work(tx as never);
  });

test('a secret whose first code is missing asks for no code and confirms no session', async () => {
  const account = await signUp();
  expect((await account.call('POST', '/v1/second-factor', { password: PASSWORD })).status).toBe(201);
  expect((await login(account.email)).status).toBe(200);
  const invite = { email: 'owner-of-pending@example.com', role: 'owner' };
  expect((await account.call('POST', '/v1/members', invite)).status).toBe(201);
  expect(await sql()`select 1 from sessions where user_id = ${account.userId} and factor_at is not null`).toEqual([]);
  expect((await account.call('POST', '/v1/second-factor/verify', { code: '123456' })).status).toBe(403);
});

test('an account whose address was never confirmed gets no second factor: it may pass to the reader of the mailbox', async () => {
  const account = await signUp();
  await sql()`update users set email_verified_at = null where id = ${account.userId}`;
  const answer = await account.call('POST', '/v1/second-factor', { password: PASSWORD });
  expect(answer).toMatchObject({ status: 403, body: { error: expect.stringContaining('confirm your e-mail') } });
});

test('a secret that waits for its first code protects nothing, and a wrong first code or a recovery code does not enable it', async () => {
  const account = await signUp();
  await account.call('POST', '/v1/second-factor', { password: PASSWORD });
  expect((await login(account.email)).status).toBe(200);
  const members = await account.call('DELETE', '/v1/second-factor', { code: '123456' });
  expect(members).toMatchObject({ status: 403, body: { error: 'this account has no second factor' } });
  for (const code of ['000000', 'ABCD-EFGH-IJKL-MNOP'])
    expect((await account.call('POST', '/v1/second-factor/confirm', { code })).status).toBe(403);
  expect((await account.call('GET', '/v1/second-factor')).body.enabledAt).toBeNull();
});

test('a session that ends while a change of the second factor waits for it changes nothing', async () => {
  const [account, other] = [await signUp(), await signUp()];
  const { recoveryCodes } = await enable(account);
  const users = [account.userId, other.userId];
  const release = await holdPostgresLock(sql(), (tx) => tx`delete from sessions where user_id = any(${users}::uuid[])`);
  const calls = [
    account.call('DELETE', '/v1/second-factor', { code: recoveryCodes[0] }),
    account.call('POST', '/v1/second-factor/recovery-codes', { code: recoveryCodes[1] }),
    account.call('POST', '/v1/second-factor/verify', { code: recoveryCodes[2] }),
    other.call('POST', '/v1/second-factor', { password: PASSWORD }),
  ];
  await expect.poll(() => countLockWaiters(sql())).toBe(calls.length);
  await release();
  expect((await Promise.all(calls)).map(({ status }) => status)).toEqual([401, 401, 401, 401]);
  const factors = await sql()`
    select user_id as "userId", confirmed_at is not null as enabled from second_factors where user_id = any(${users}::uuid[])`;
  expect(factors).toEqual([{ userId: account.userId, enabled: true }]);
  const codes = await sql()`
    select 1 from recovery_codes where user_id = ${account.userId}`;
  expect(codes).toHaveLength(recoveryCodes.length - 3);
});

test('the first code enables the own second factor only', async () => {
  const [account, other] = [await signUp(), await signUp()];
  await other.call('POST', '/v1/second-factor', { password: PASSWORD });
  await enable(account);
  expect((await other.call('GET', '/v1/second-factor')).body).toEqual({ enabledAt: null, recoveryCodesLeft: 0 });
});

test('attack: the first code of a secret that is replaced at the same moment enables nothing', async () => {
  const account = await signUp();
  const { secret } = (await account.call('POST', '/v1/second-factor', { password: PASSWORD })).body;
  let confirmation: ReturnType<Account['call']>;
  await whileLocked(account, async (tx) => {
    confirmation = account.call('POST', '/v1/second-factor/confirm', { code: showTotpCode(secret, 0) });
    await waitUntil('the confirmation waits for the row', async () => (await lockWaits()) === 1);
    await tx`update second_factors set nonce = 'another' where user_id = ${account.userId}`;
  });
  expect((await confirmation!).status).toBe(403);
  expect((await account.call('GET', '/v1/second-factor')).body.enabledAt).toBeNull();
});

test('two confirmations at the same moment: one set of recovery codes, which works', async () => {
  const account = await signUp();
  const { secret } = (await account.call('POST', '/v1/second-factor', { password: PASSWORD })).body;
  const confirm = (steps: number) =>
    account.call('POST', '/v1/second-factor/confirm', { code: showTotpCode(secret, steps) });
  const pending: ReturnType<typeof confirm>[] = [];
  await whileLocked(account, async () => {
    for (const step of [0, 1]) {
      pending.push(confirm(step));
      await waitUntil('the confirmation waits for the row', async () => (await lockWaits()) === step + 1);
    }
  });
  const answers = await Promise.all(pending);
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
  const { recoveryCodes } = answers.find(({ status }) => status === 200)!.body;
  expect((await login(account.email, recoveryCodes[0])).status).toBe(200);
});

test('login: password and code; without a code 401 with secondFactor, and only after the right password', async () => {
  const account = await signUp();
  const { code } = await enable(account);
  const missing = await login(account.email);
  expect(missing).toMatchObject({ status: 401, body: { error: expect.any(String), secondFactor: true } });
  const wrongPassword = await login(account.email, code(), 'not the password');
  expect(wrongPassword).toMatchObject({ status: 401, body: { error: 'wrong e-mail or password' } });
  expect(wrongPassword.body.secondFactor).toBeUndefined();
  for (const wrong of ['000000', '1234567', 'abcdef'])
    expect(await login(account.email, wrong)).toMatchObject({ status: 401, body: { secondFactor: true } });
  const spaced = code().replace(/^(...)/, '$1 ');
  expect(await login(account.email, spaced)).toMatchObject({ status: 200, body: { token: expect.any(String) } });
  await expect.poll(() => auditActions(account)).toContain('login.fail');
});

test('login in a browser: the same', async () => {
  const account = await signUp();
  const { code } = await enable(account);
  const open = (body: object) =>
    plane().call('POST', '/v1/session', { body, headers: { 'sec-fetch-site': 'same-origin' } });
  const credentials = { email: account.email, password: PASSWORD };
  expect(await open(credentials)).toMatchObject({ status: 401, body: { secondFactor: true } });
  expect((await open({ ...credentials, code: code() })).status).toBe(200);
});

test('attack: a code works once, also in two requests at the same moment, and an older one not at all', async () => {
  const account = await signUp();
  const { code } = await enable(account);
  const current = code();
  // Both have read that the code is unused before either of them uses it.
  const waiting = () => sql()`
    select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
       and query like '%update second_factors set last_step%'`;
  let logins: Promise<Awaited<ReturnType<typeof login>>[]>;
  await sql().begin(async (tx) => {
    await tx`select 1 from second_factors where user_id = ${account.userId} for update`;
    logins = Promise.all([login(account.email, current), login(account.email, current)]);
    await waitUntil('both logins wait for the row', async () => (await waiting()).length === 2);
  });
  const answers = await logins!;
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 401]);
  expect((await login(account.email, current)).status).toBe(401);
  expect((await login(account.email, code(-1))).status).toBe(401);
});

test('attack: after 5 wrong codes the right one is 429, in parallel, too; a recovery code still works', async () => {
  const account = await signUp();
  const { code, recoveryCodes } = await enable(account);
  await forgetUse(account.userId);
  const guesses = await Promise.all(Array.from({ length: 12 }, () => login(account.email, '000000')));
  expect(guesses.filter(({ status }) => status === 401).length).toBeLessThanOrEqual(5);
  expect(guesses.every(({ status }) => status === 401 || status === 429)).toBe(true);
  const blocked = await login(account.email, code());
  expect(blocked).toMatchObject({
    status: 429,
    body: { error: expect.stringContaining('codes of the second factor') },
  });
  expect((await account.call('POST', '/v1/second-factor/verify', { code: code() })).status).toBe(429);
  const windows = await sql()<{ minutes: number }[]>`
    select extract(epoch from expires_at - now())::float8 / 60 as minutes from throttle_windows
     where key like ${`second-factor%${account.userId}`} order by expires_at`;
  const within = (most: number) => (minutes: number) => minutes > most * 0.7 && minutes <= most;
  expect(windows.map(({ minutes }, n) => within([15, 1_440][n]!)(minutes))).toEqual([true, true]);
  expect((await login(account.email, recoveryCodes[0])).status).toBe(200);
});

test('attack: an Idempotency-Key does not undo the count of wrong codes', async () => {
  const account = await signUp();
  await enable(account);
  await forgetUse(account.userId);
  for (let n = 0; n < 5; n++) {
    const headers = { 'idempotency-key': `guess ${n}` };
    const options = { token: account.token, body: { code: '000000' }, headers };
    expect((await plane().call('POST', '/v1/second-factor/verify', options)).status).toBe(403);
  }
  expect((await account.call('POST', '/v1/second-factor/verify', { code: '000000' })).status).toBe(429);
});

test('20 codes a day, also when the windows of 15 minutes end; a right code resets both', async () => {
  const account = await signUp();
  const { code } = await enable(account);
  await forgetUse(account.userId);
  const key = `second-factor:${account.userId}`;
  for (let n = 0; n < 20; n++) {
    await sql()`delete from throttle_windows where key = ${key}`;
    expect((await login(account.email, '000000')).status).toBe(401);
  }
  await sql()`delete from throttle_windows where key = ${key}`;
  expect((await login(account.email, code())).status).toBe(429);
  await sql()`update throttle_windows set count = 19 where key = ${`second-factor-day:${account.userId}`}`;
  await sql()`delete from throttle_windows where key = ${key}`;
  expect((await login(account.email, code())).status).toBe(200);
  expect(await sql()`select key from throttle_windows where key like ${`second-factor%${account.userId}`}`).toEqual([]);
});

test('attack: a recovery code works once, in parallel, too, and another account gains nothing from it', async () => {
  const account = await signUp();
  const other = await signUp();
  const { recoveryCodes } = await enable(account);
  await enable(other);
  expect((await login(other.email, recoveryCodes[0])).status).toBe(401);
  const answers = await Promise.all([login(account.email, recoveryCodes[0]), login(account.email, recoveryCodes[0])]);
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 401]);
  expect((await login(account.email, recoveryCodes[0]!.toLowerCase())).status).toBe(401);
  expect((await account.call('GET', '/v1/second-factor')).body.recoveryCodesLeft).toBe(9);
  const mail = await plane().waitForMail(account.email, 'recovery code');
  expect(mail.text).toContain('9');
  const uses = await sql()`
    select changes from audit_entries where org_id = ${account.orgId} and action = 'second_factor.use_recovery_code'`;
  expect(uses).toEqual([{ changes: { recoveryCodesLeft: [10, 9] } }]);
});

test('new recovery codes replace the old ones', async () => {
  const account = await signUp();
  const other = await signUp();
  const { code, recoveryCodes } = await enable(account);
  const { recoveryCodes: others } = await enable(other);
  expect((await account.call('POST', '/v1/second-factor/recovery-codes', { code: '000000' })).status).toBe(403);
  const renewed = await account.call('POST', '/v1/second-factor/recovery-codes', { code: code() });
  expect(renewed.status).toBe(200);
  expect((await login(account.email, recoveryCodes[1])).status).toBe(401);
  expect((await login(account.email, renewed.body.recoveryCodes[1])).status).toBe(200);
  expect((await login(other.email, others[0])).status).toBe(200);
  await plane().waitForMail(account.email, 'second factor of your account was changed');
  expect(await auditActions(account)).toContain('second_factor.renew_recovery_codes');
});

test('a password reset does not get around the second factor', async () => {
  const account = await signUp();
  const { code } = await enable(account);
  await plane().call('POST', '/v1/auth/forgot-password', { body: { email: account.email } });
  const { token } = await plane().waitForMail(account.email, 'new password');
  const password = 'another long password';
  expect((await plane().call('POST', '/v1/auth/reset-password', { body: { token, password } })).status).toBe(200);
  expect(await login(account.email, undefined, password)).toMatchObject({ status: 401, body: { secondFactor: true } });
  expect((await login(account.email, code(), password)).status).toBe(200);
});

test('an invitation by password needs the code, too', async () => {
  const account = await signUp();
  const { code } = await enable(account);
  const owner = await plane().createMember('owner');
  await owner.call('POST', '/v1/members', { email: account.email, role: 'viewer' });
  const { token } = await plane().waitForMail(account.email, 'Invitation');
  const accept = (more: object) =>
    plane().call('POST', '/v1/invitations/accept', { body: { token, password: PASSWORD, ...more } });
  expect(await accept({})).toMatchObject({ status: 401, body: { secondFactor: true } });
  expect(await accept({ code: '000000' })).toMatchObject({ status: 401, body: { secondFactor: true } });
  expect(await accept({ code: code() })).toMatchObject({ status: 200, body: { orgId: owner.orgId } });
});

test('removal: with a code only; then the password alone logs in', async () => {
  const account = await signUp();
  const { code } = await enable(account);
  expect((await account.call('DELETE', '/v1/second-factor', { code: '000000' })).status).toBe(403);
  const other = await signUp();
  await enable(other);
  expect((await account.call('DELETE', '/v1/second-factor', { code: code() })).body).toEqual({ deleted: true });
  expect((await login(account.email)).status).toBe(200);
  expect((await other.call('GET', '/v1/second-factor')).body).toMatchObject({ recoveryCodesLeft: 10 });
  expect(await login(other.email)).toMatchObject({ status: 401, body: { secondFactor: true } });
  expect(await sql()`select 1 from recovery_codes where user_id = ${account.userId}`).toEqual([]);
  expect(await auditActions(account)).toContain('second_factor.remove');
});

test('what cannot be undone needs a code of the last 10 minutes in this session: owners, deletion, policy', async () => {
  const account = await signUp();
  const { code } = await enable(account);
  const member = await plane().createMember('member', account.orgId);
  const second = await plane().createMember('owner', account.orgId);
  const org = `/v1/orgs/${account.orgId}`;
  const guarded = [
    ['PATCH', `/v1/members/${member.userId}`, { role: 'owner' }],
    ['PATCH', `/v1/members/${second.userId}`, { role: 'member' }],
    ['DELETE', `/v1/members/${second.userId}`, undefined],
    ['POST', '/v1/members', { email: 'new-owner@example.com', role: 'owner' }],
    ['PATCH', org, { requireSecondFactor: true }],
    ['DELETE', '/v1/members/me', undefined],
  ] as const;
  // 9 minutes later the session is still confirmed.
  await sql()`update sessions set factor_at = now() - interval '9 minutes' where user_id = ${account.userId}`;
  const invite = { email: 'nine-minutes@example.com', role: 'owner' };
  expect((await account.call('POST', '/v1/members', invite)).status).toBe(201);
  // 10 minutes and a moment later it is not.
  await sql()`update sessions set factor_at = now() - interval '601 seconds' where user_id = ${account.userId}`;
  for (const [method, path, body] of guarded) {
    const answer = await account.call(method, path, body);
    expect({ method, path, ...answer }).toMatchObject({ status: 403, body: { secondFactor: true } });
  }
  expect((await account.call('PATCH', `/v1/members/${member.userId}`, { role: 'viewer' })).status).toBe(200);
  // A second organization, so that this one may be deleted.
  await account.call('POST', '/v1/orgs', { name: 'Second' });
  const deletion = await account.call('DELETE', org, { password: PASSWORD });
  expect(deletion).toMatchObject({ status: 403, body: { secondFactor: true } });

  // The code of another session does not confirm this one.
  expect((await login(account.email, code())).status).toBe(200);
  expect((await account.call('DELETE', `/v1/members/${second.userId}`)).status).toBe(403);
  await forgetConfirmation(account);
  expect((await account.call('POST', '/v1/second-factor/verify', { code: code(1) })).body).toEqual({ ok: true });
  // The other session of the account stays unconfirmed.
  const confirmed = await sql()`
    select 1 from sessions where user_id = ${account.userId} and factor_at > now() - interval '5 minutes'`;
  expect(confirmed).toHaveLength(1);
  expect((await account.call('PATCH', org, { requireSecondFactor: true })).body.org.requireSecondFactor).toBe(true);
  expect((await account.call('DELETE', `/v1/members/${second.userId}`)).status).toBe(200);
  expect((await account.call('DELETE', org, { password: PASSWORD })).status).toBe(200);
  expect(await auditActions(account)).toContain('session.confirm');
});

test('a login with a code counts as confirmed, one of an account without second factor needs none', async () => {
  const account = await signUp();
  const invite = { email: 'another-owner@example.com', role: 'owner' };
  expect((await account.call('POST', '/v1/members', invite)).status).toBe(201);
  const { code } = await enable(account);
  const { token } = (await login(account.email, code())).body;
  expect((await plane().call('POST', '/v1/members', { token, body: invite })).status).toBe(201);
});

test('policy: members without a second factor get 403 until they have one; only owners with one set it', async () => {
  const account = await signUp();
  const org = `/v1/orgs/${account.orgId}`;
  const admin = await plane().createMember('admin', account.orgId);
  const own = await account.call('PATCH', org, { requireSecondFactor: true });
  expect(own).toMatchObject({ status: 409, body: { error: expect.stringContaining('your own second factor') } });
  const { code } = await enable(account);
  expect((await admin.call('PATCH', org, { requireSecondFactor: true })).status).toBe(403);
  expect((await admin.call('PATCH', org, { requireSecondFactor: false, name: 'Renamed' })).status).toBe(200);
  expect((await account.call('PATCH', org, { requireSecondFactor: true })).status).toBe(200);

  const token = (await account.call('POST', '/v1/management-tokens', { name: 'CI', role: 'viewer' })).body.secretToken;
  expect((await admin.call('GET', '/v1/projects')).status).toBe(403);
  expect((await admin.call('GET', '/v1/me')).body.orgs).toMatchObject([{ secondFactorMissing: true }]);
  expect((await account.call('GET', '/v1/me')).body.orgs[0].secondFactorMissing).toBeUndefined();
  expect((await plane().call('GET', '/v1/projects', { token })).status).toBe(200);
  await sql()`insert into second_factors (user_id, key_id, nonce, ciphertext, confirmed_at) values (${admin.userId}, '', '', '', now())`;
  expect((await admin.call('GET', '/v1/projects')).status).toBe(200);
  await forgetConfirmation(account);
  expect((await account.call('PATCH', org, { requireSecondFactor: false })).status).toBe(403);
  await account.call('POST', '/v1/second-factor/verify', { code: code() });
  expect((await account.call('PATCH', org, { requireSecondFactor: false })).status).toBe(200);
});

test('the secret is encrypted, bound to its user, and follows a rotation of the master key', async () => {
  const account = await signUp();
  const { code } = await enable(account);
  const [row] = await sql()`select * from second_factors where user_id = ${account.userId}`;
  expect(row!.ciphertext.length).toBe(40 + 16);
  const other = await signUp();
  await enable(other);
  await sql()`
    update second_factors set (key_id, nonce, ciphertext) = (
      select key_id, nonce, ciphertext from second_factors where user_id = ${account.userId})
     where user_id = ${other.userId}`;
  expect((await login(other.email, code())).status).toBe(500);
  await sql()`delete from second_factors where user_id = ${other.userId}`;
  const { Secret } = await import('@acg/base/secret');
  const key = { id: 'next', key: new Secret(randomBytes(32)) };
  const vault = new Vault([key, ...plane().config.masterKeys]);
  const { written, unreadable } = await reencryptAll(sql() as never, vault);
  expect(written.second_factor_secrets).toBeGreaterThan(0);
  expect(unreadable.filter((name) => name.includes(account.userId))).toEqual([]);
  const [rotated] = await sql()`select key_id from second_factors where user_id = ${account.userId}`;
  expect(rotated!.key_id).toBe('next');
});

/** Domains of single sign-on: verified by one organization, checked each week, at most 50. */
import { expect, test } from 'vitest';
import type { Member } from '../fixtures/control-plane.js';
import { countLockWaiters, holdPostgresLock } from '../fixtures/hold-postgres-lock.js';
import { waitUntil } from '../fixtures/wait-until.js';
import { startLogin } from './gateway-login.js';
import { newDomain, useSingleSignOn } from './use-single-sign-on.js';

const { plane, sql, txtRecords, createOrganization, entriesOf } = useSingleSignOn();

const weeklyCheck = async () => {
  const { resolveTxtRecords } = await import('@acg/controlplane/sso/resolve-txt-records');
  const { SsoSettingsService } = await import('@acg/controlplane/sso/settings-service');
  return new SsoSettingsService({ sql: plane().service.sql, resolveTxt: resolveTxtRecords } as never);
};

test('domains: own ones only, verified by one organization, each checked again after a week', async () => {
  const org = await createOrganization();
  const rival = await plane().createMember('owner');
  for (const domain of ['gmail.com', 'GMAIL.com', 'com', 'a b.com', 'example', '127.0.0.1', 'ex_ample.com', ''])
    expect({ domain, ...(await rival.call('POST', '/v1/sso/domains', { domain })) }).toMatchObject({ status: 400 });
  const added = await rival.call('POST', '/v1/sso/domains', { domain: org.domain.toUpperCase() });
  const { id, domain, recordName, recordValue } = added.body.domain;
  expect(domain).toBe(org.domain);
  expect(recordValue).toMatch(/^acg-domain-verification=[0-9a-f]{32}$/);
  expect(added.body.domain).toMatchObject({ verifiedAt: null, checkedAt: null });
  expect((await rival.call('POST', '/v1/sso/domains', { domain })).status).toBe(409);
  const verify = (by: Member, domainId: string) => by.call('POST', `/v1/sso/domains/${domainId}/verify`);
  const ownRecord = txtRecords.get(recordName)!;
  expect((await verify(rival, id)).body.domain).toMatchObject({ verifiedAt: null, checkedAt: expect.any(String) });
  txtRecords.set(recordName, [...ownRecord, recordValue]);
  expect(await verify(rival, id)).toMatchObject({
    status: 409,
    body: { error: expect.stringContaining('another organization') },
  });
  expect((await verify(rival, org.domainId)).status).toBe(404);
  txtRecords.set(recordName, 'silent');
  expect((await verify(org.owner, org.domainId)).status).toBe(409);
  expect((await org.owner.call('GET', '/v1/sso')).body.domains[0].verifiedAt).not.toBeNull();

  // A week later: no answer changes nothing, a record that is gone ends the verification.
  const settings = await weeklyCheck();
  const isVerified = async () => (await org.owner.call('GET', '/v1/sso')).body.domains[0].verifiedAt !== null;
  const weekLater = (minutes = 1) => sql()`
    update sso_domains set checked_at = now() - interval '7 days' - make_interval(mins => ${minutes})
     where id = ${org.domainId}`;
  await weekLater();
  await settings.recheckDomains();
  expect(await isVerified()).toBe(true);
  txtRecords.set(recordName, [recordValue]);
  await weekLater(-10);
  await settings.recheckDomains();
  expect(await isVerified()).toBe(true);
  await weekLater();
  await settings.recheckDomains();
  expect(await isVerified()).toBe(false);
  await expect(startLogin(plane(), org.email)).rejects.toThrow('404');
  expect((await verify(rival, id)).body.domain.verifiedAt).not.toBeNull();
  expect((await org.owner.call('DELETE', `/v1/sso/domains/${org.domainId}`)).status).toBe(200);
  expect((await org.owner.call('GET', '/v1/sso')).body.domains).toEqual([]);
});

test('domains: at most 50, also by two requests at the same moment; a removal and a check concern one of them', async () => {
  const org = await createOrganization();
  const second = await org.owner.call('POST', '/v1/sso/domains', { domain: newDomain() });
  const secondId = second.body.domain.id;
  txtRecords.set(second.body.domain.recordName, [second.body.domain.recordValue]);
  const verified = await org.owner.call('POST', `/v1/sso/domains/${secondId}/verify`);
  expect(verified.body.domain).toMatchObject({ id: secondId, verifiedAt: expect.any(String) });
  expect((await org.owner.call('DELETE', `/v1/sso/domains/${secondId}`)).body).toEqual({ deleted: true });
  expect((await org.owner.call('DELETE', `/v1/sso/domains/${secondId}`)).status).toBe(404);
  expect((await org.owner.call('GET', '/v1/sso')).body.domains).toMatchObject([{ id: org.domainId }]);
  const { domain } = second.body.domain;
  expect(await entriesOf(org, 'sso_domain.create')).toEqual([
    { domain: [null, org.domain] },
    { domain: [null, domain] },
  ]);
  expect(await entriesOf(org, 'sso_domain.verify')).toContainEqual({
    domain: [domain, domain],
    verified: [false, true],
  });
  expect(await entriesOf(org, 'sso_domain.delete')).toEqual([{ domain: [domain, null] }]);
  await sql()`
    insert into sso_domains (id, org_id, domain, token)
    select gen_random_uuid(), ${org.orgId}, 'd' || n || '.example.com', 'token' from generate_series(1, 48) n`;
  const add = () => org.owner.call('POST', '/v1/sso/domains', { domain: newDomain() });
  let additions: Promise<Awaited<ReturnType<typeof add>>[]>;
  await sql().begin(async (tx) => {
    await tx`select 1 from organizations where id = ${org.orgId} for no key update`;
    additions = Promise.all([add(), add()]);
    const waiting = () => sql()`
      select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    await waitUntil('both wait for the organization', async () => (await waiting()).length >= 2);
  });
  const answers = await additions!;
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 409]);
  const full = answers.find(({ status }) => status === 409)!;
  expect(full.body.error).toContain('50 domains');
  expect((await org.owner.call('GET', '/v1/sso')).body.domains).toHaveLength(50);
});

test('the weekly check takes 20 verified domains at a time, the oldest first, and waits for no other control plane', async () => {
  const org = await createOrganization();
  // Domains of other tests are not due.
  await sql()`update sso_domains set checked_at = now() where verified_at is not null`;
  await sql()`
    insert into sso_domains (id, org_id, domain, token, verified_at, checked_at)
    select gen_random_uuid(), ${org.orgId}, 'due-' || n || '.example.org', 'token', now(), now() - make_interval(days => 30 + n)
      from generate_series(1, 22) n`;
  await sql()`
    insert into sso_domains (id, org_id, domain, token, checked_at)
    values (gen_random_uuid(), ${org.orgId}, 'never.example.org', 'token', now() - interval '99 days')`;
  const settings = await weeklyCheck();
  const due = async () =>
    (
      await sql()<{ domain: string }[]>`
        select domain from sso_domains where org_id = ${org.orgId} and checked_at < now() - interval '8 days' order by checked_at`
    ).map(({ domain }) => domain);
  // Another control plane checks the oldest one.
  await sql().begin(async (tx) => {
    await tx`select 1 from sso_domains where org_id = ${org.orgId} and domain = 'due-22.example.org' for update`;
    await settings.recheckDomains();
  });
  expect(await due()).toEqual(['never.example.org', 'due-22.example.org', 'due-1.example.org']);
  await settings.recheckDomains();
  expect(await due()).toEqual(['never.example.org']);
  const verified = await sql()`select domain from sso_domains where org_id = ${org.orgId} and verified_at is not null`;
  expect(verified).toEqual([{ domain: org.domain }]);
});

test('domains: of two removals at once, and a check meanwhile, only the first removal has an effect', async () => {
  const org = await createOrganization();
  const path = `/v1/sso/domains/${org.domainId}`;
  const release = await holdPostgresLock(
    sql(),
    (tx) => tx`select 1 from sso_domains where id = ${org.domainId} for update`,
  );
  const calls = [
    ['DELETE', path],
    ['DELETE', path],
    ['POST', `${path}/verify`],
  ] as const;
  const answers = [];
  for (const [n, [method, url]] of calls.entries()) {
    answers.push(org.owner.call(method, url));
    await expect.poll(() => countLockWaiters(sql())).toBe(n + 1);
  }
  await release();
  expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([200, 404, 404]);
  expect(await entriesOf(org, 'sso_domain.delete')).toHaveLength(1);
  expect(await entriesOf(org, 'sso_domain.verify')).toHaveLength(1); // of the preparation
});

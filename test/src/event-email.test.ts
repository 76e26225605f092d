/** Events of an organization as its members see them, and the e-mails to members who subscribed, in bounded number. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { outboxDirectory } from '@acg/controlplane/config';
import { pruneQueuedEvents } from '@acg/controlplane/event-mail/store';
import { appendEvent } from '@acg/controlplane/events/append-events';
import { expect, test } from 'vitest';
import { type Member, parseMail, useControlPlane } from './fixtures/control-plane.js';
import { waitUntil } from './fixtures/wait-until.js';

const plane = useControlPlane();
const sql = () => plane().database.sql;

const NIL = '00000000-0000-0000-0000-000000000000';
const abuse = (orgId: string, agentName: string) =>
  sql().begin((tx) => {
    const data = { agentId: NIL, agentName, reason: 'rejections', count: 300, windowSeconds: 300, orgId } as const;
    return appendEvent(tx, orgId, 'abuse.detected', data);
  });

async function emailOf({ userId }: Member): Promise<string> {
  const [row] = await sql()<{ email: string }[]>`
    update users set email_verified_at = now() where id = ${userId} returning email`;
  return row!.email;
}

/** All mails to that address. */
function readMailsTo(email: string): readonly string[] {
  const directory = outboxDirectory(plane().config);
  if (!existsSync(directory)) return [];
  const mails = readdirSync(directory).filter((name) => name.endsWith('.eml'));
  return mails
    .map((name) => parseMail(readFileSync(join(directory, name), 'utf8')))
    .filter(({ header }) => header('to') === email)
    .map(({ header, text }) => `${header('subject')}\n${text}`);
}

const readDeliveryState = (orgId: string) =>
  waitUntil('all events are fanned out', async () => {
    const [row] = await sql()<{ n: number }[]>`
      select count(*) as n from events where org_id = ${orgId} and fanned_out_at is null`;
    return row!.n === 0;
  });
const waitingFor = async ({ userId }: Member): Promise<number> => {
  const [row] = await sql()<{ n: number }[]>`select count(*) as n from event_mail_queue where user_id = ${userId}`;
  return row!.n;
};
const subscribe = (by: Member, who: Member, events: readonly string[] = ['abuse.detected']) =>
  by.call('PUT', `/v1/event-mail/${who.userId}`, { events });

test('events: the own ones, newest first, filtered by name, agent and days', async () => {
  const viewer = await plane().createMember('viewer');
  const stranger = await plane().createMember('owner');
  await abuse(viewer.orgId, 'first');
  await abuse(viewer.orgId, 'second');
  await abuse(stranger.orgId, 'foreign');
  const events = async (query = '') => (await viewer.call('GET', `/v1/events${query}`)).body;
  const all = await events();
  expect(all.total).toBe(2);
  expect(all.events.map((one: { data: { agentName: string } }) => one.data.agentName)).toEqual(['second', 'first']);
  expect(all.events[0]).toEqual({
    id: expect.any(String),
    event: 'abuse.detected',
    occurredAt: expect.stringMatching(/Z$/),
    data: expect.objectContaining({ reason: 'rejections' }),
  });
  const today = new Date().toISOString().slice(0, 10);
  expect((await events(`?agentId=${NIL}&event=abuse.detected&start=${today}&end=${today}`)).total).toBe(2);
  expect((await events('?event=agent.created')).total).toBe(0);
  expect((await events('?end=2020-01-01')).total).toBe(0);
  expect((await events(`?agentId=${viewer.userId}`)).total).toBe(0);
});

test('e-mail: sent only to members who subscribed to the event and verified their address', async () => {
  const admin = await plane().createMember('admin');
  const member = await plane().createMember('member', admin.orgId);
  const other = await plane().createMember('viewer', admin.orgId);
  const outsider = await plane().createMember('owner');
  expect((await subscribe(admin, member)).status).toBe(409); // not confirmed
  expect((await subscribe(admin, member, [])).status).toBe(200);
  const [to, notTo, foreign] = [await emailOf(member), await emailOf(other), await emailOf(outsider)];
  expect((await subscribe(member, other)).status).toBe(403);
  expect((await subscribe(admin, outsider)).status).toBe(404);
  expect((await subscribe(outsider, member)).status).toBe(404);
  expect((await subscribe(other, other, ['usage.threshold'])).status).toBe(200);
  expect((await subscribe(admin, member)).body.preference).toMatchObject({ email: to, events: ['abuse.detected'] });
  await abuse(admin.orgId, 'Ada');
  const mail = await plane().waitForMail(to, 'abuse.detected');
  expect(mail.text).toContain('abuse.detected  agent Ada  reason rejections');
  await readDeliveryState(admin.orgId);
  expect([readMailsTo(notTo), readMailsTo(foreign)]).toEqual([[], []]);
});

test('e-mail: events within the pause are sent in one e-mail, and names that look like links are left out', async () => {
  const admin = await plane().createMember('admin');
  const to = await emailOf(admin);
  await subscribe(admin, admin);
  await abuse(admin.orgId, 'https://evil.example/login');
  const first = await plane().waitForMail(to, 'abuse.detected');
  expect(first.text).not.toContain('evil');
  expect(first.text).toContain(`agent ${NIL}`);
  for (let i = 0; i < 25; i++) await abuse(admin.orgId, 'Ada');
  await readDeliveryState(admin.orgId);
  expect([await waitingFor(admin), readMailsTo(to).length]).toEqual([25, 1]);
  await sql()`
    update event_mail_recipients set last_mailed_at = now() - interval '1 hour' where user_id = ${admin.userId}`;
  const second = await plane().waitForMail(to, '25 events');
  expect(second.text).toContain('… and 5 more');
  expect(await waitingFor(admin)).toBe(0);
});

test('mail: the pause of a member is a quarter of an hour', async () => {
  const paused = await plane().createMember('admin');
  const due = await plane().createMember('viewer', paused.orgId);
  const mails = new Map<Member, string>();
  for (const [member, minutes] of [
    [paused, 14],
    [due, 16],
  ] as const) {
    mails.set(member, await emailOf(member));
    await subscribe(member, member);
    await sql()`
      update event_mail_recipients set last_mailed_at = now() - make_interval(mins => ${minutes})
       where user_id = ${member.userId}`;
  }
  await abuse(paused.orgId, 'Ada');
  await plane().waitForMail(mails.get(due)!, 'abuse.detected'); // both were processed in one run
  expect([await waitingFor(due), await waitingFor(paused), readMailsTo(mails.get(paused)!)]).toEqual([0, 1, []]);
});

test('e-mail: an organization has a quota; further e-mails wait', async () => {
  const admin = await plane().createMember('admin');
  const to = await emailOf(admin);
  await subscribe(admin, admin);
  await sql()`
    insert into throttle_windows (key, count, expires_at)
    values (${`event-mail:${admin.orgId}`}, 100, now() + interval '1 hour')`;
  await abuse(admin.orgId, 'Ada');
  await waitUntil('it was looked at', async () => {
    const [row] =
      await sql()`select 1 from event_mail_recipients where user_id = ${admin.userId} and last_mailed_at is not null`;
    return row !== undefined;
  });
  expect([await waitingFor(admin), readMailsTo(to)]).toEqual([1, []]);
});

test('e-mail: a removed member gets none, not even queued ones; every member can unsubscribe', async () => {
  const admin = await plane().createMember('admin');
  const leaver = await plane().createMember('viewer', admin.orgId);
  const stayer = await plane().createMember('viewer', admin.orgId);
  for (const member of [leaver, stayer]) {
    await emailOf(member);
    await subscribe(member, member);
    await sql()`update event_mail_recipients set last_mailed_at = now() where user_id = ${member.userId}`;
  }
  await abuse(admin.orgId, 'Ada');
  await readDeliveryState(admin.orgId);
  expect([await waitingFor(leaver), await waitingFor(stayer)]).toEqual([1, 1]);
  expect((await leaver.call('DELETE', '/v1/members/me')).status).toBe(200);
  expect((await subscribe(stayer, stayer, [])).body.preference.events).toEqual([]);
  expect((await sql()`select 1 from event_mail_recipients where org_id = ${admin.orgId}`).length).toBe(0);
  const { preferences } = (await admin.call('GET', '/v1/event-mail')).body;
  expect(preferences.map((one: { userId: string }) => one.userId).sort()).toEqual([admin.userId, stayer.userId].sort());
});

/** Adds the user to another organization with a subscription; `pause`: an e-mail of it was just sent. */
async function joinSecondOrganization(orgId: string, { userId }: Member, pause: boolean): Promise<void> {
  await sql()`insert into memberships (org_id, user_id, role) values (${orgId}, ${userId}, 'viewer')`;
  await sql()`
    insert into event_mail_recipients (org_id, user_id, events, last_mailed_at)
    values (${orgId}, ${userId}, '{abuse.detected}', ${pause ? new Date() : null})`;
}

test('e-mail: each organization of a user sends separate e-mails with a separate pause', async () => {
  const person = await plane().createMember('viewer');
  const [paused, quiet] = [await plane().createMember('owner'), await plane().createMember('owner')];
  const to = await emailOf(person);
  await joinSecondOrganization(paused.orgId, person, true);
  await joinSecondOrganization(quiet.orgId, person, false);
  await emailOf(quiet);
  await subscribe(quiet, quiet);
  const mailedAt = async () => {
    const rows = await sql()<{ orgId: string; at: Date | null }[]>`
      select org_id as "orgId", last_mailed_at as at from event_mail_recipients where user_id = ${person.userId}`;
    return new Map(rows.map(({ orgId, at }) => [orgId, at]));
  };
  await abuse(paused.orgId, 'Theirs');
  await readDeliveryState(paused.orgId);
  expect(await waitingFor(person)).toBe(1);
  const before = await mailedAt();
  const { preferences } = (await person.call('GET', '/v1/event-mail')).body;
  expect(preferences).toMatchObject([{ userId: person.userId, events: [] }]); // what is chosen elsewhere is not chosen here
  await subscribe(person, person);
  await abuse(person.orgId, 'Ada');
  const mail = await plane().waitForMail(to, 'abuse.detected');
  expect(mail.text).toContain('agent Ada');
  expect(mail.text).not.toContain('Theirs');
  expect([await waitingFor(person), readMailsTo(to).length]).toEqual([1, 1]);
  expect(await waitingFor(quiet)).toBe(0); // a subscription of another organization does not count
  const after = await mailedAt();
  expect(after.get(person.orgId)).toBeInstanceOf(Date);
  after.delete(person.orgId);
  expect(after).toEqual(before);
  await subscribe(person, person, []);
  expect(await mailedAt()).toEqual(before);
});

test('e-mail: an address that is no longer verified gets none, and its queued e-mails are dropped', async () => {
  const admin = await plane().createMember('admin');
  const other = await plane().createMember('viewer', admin.orgId);
  const [to, toOther] = [await emailOf(admin), await emailOf(other)];
  for (const member of [admin, other]) await subscribe(member, member);
  await sql()`update event_mail_recipients set last_mailed_at = now() where org_id = ${admin.orgId}`;
  await abuse(admin.orgId, 'Ada');
  await readDeliveryState(admin.orgId);
  await sql()`update users set email_verified_at = null where id = ${admin.userId}`;
  // Both are due in one run; the second e-mail of the other belongs to a later run.
  for (const mails of [1, 2]) {
    await sql()`
      update event_mail_recipients
         set last_mailed_at = now() - case when user_id = ${admin.userId} then interval '2 days' else interval '1 day' end
       where org_id = ${admin.orgId}`;
    await abuse(admin.orgId, 'Ada');
    await waitUntil('the other has got it', () => readMailsTo(toOther).length === mails);
  }
  expect([await waitingFor(admin), readMailsTo(to)]).toEqual([0, []]);
});

test('e-mail: queued events are kept for a day', async () => {
  const { orgId, userId } = await plane().createMember('viewer');
  const ages = [2 * 60, 23 * 3_600, 25 * 3_600];
  for (const age of ages) {
    await sql()`
      insert into event_mail_queue (org_id, user_id, event_id, event, data, occurred_at)
      values (${orgId}, ${userId}, gen_random_uuid(), 'abuse.detected', '{}', now() - make_interval(secs => ${age}))`;
  }
  await pruneQueuedEvents(sql());
  expect(await waitingFor({ userId } as Member)).toBe(2);
});

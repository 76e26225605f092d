/** Delivery outcomes are recorded although a write fails: a delivery with a lost outcome would be sent again. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Member, useControlPlane } from '../fixtures/control-plane.js';
import { waitUntil } from '../fixtures/wait-until.js';
import { type Receiver, startReceiver } from './webhook-receiver.js';

// A delivery with a lost outcome is sent again 6 s after its attempt.
const plane = useControlPlane({ WEBHOOK_TIMEOUT_MS: '1000' });
let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
});
afterAll(() => receiver.close());

/** Sends a test event to that path; returns the delivery's id. */
async function sendTestEvent(owner: Member, path: string): Promise<string> {
  const { body } = await owner.call('POST', '/v1/webhooks', {
    url: `${receiver.url}${path}`,
    events: ['agent.created'],
  });
  return (await owner.call('POST', `/v1/webhooks/${body.endpoint.id}/test`)).body.delivery.id;
}

/** Status of a delivery when it is recorded or was sent again. */
const awaitOutcome = (owner: Member, id: string) =>
  waitUntil('the delivery is recorded or comes again', async () => {
    const { status } = (await owner.call('GET', `/v1/webhooks/deliveries/${id}`)).body.delivery;
    return (
      (status === 'success' || receiver.received.filter(({ deliveryId }) => deliveryId === id).length > 1) && status
    );
  });

test('delivery outcomes: a write that fails in a deadlock is retried, and nothing is sent twice', async () => {
  const { sql } = plane().database;
  await sql.unsafe(`
    create sequence outcome_writes;
    create function lose_deadlock() returns trigger language plpgsql as $$ begin
      if nextval('outcome_writes') <= 3 then raise exception 'deadlock detected' using errcode = '40P01'; end if;
      return new;
    end $$;
    create trigger lose_deadlock before update on webhook_deliveries for each row when (new.status = 'success')
      execute function lose_deadlock();`);
  const owner = await plane().createMember('owner');
  const id = await sendTestEvent(owner, '/deadlock');
  expect(await awaitOutcome(owner, id)).toBe('success');
  expect(receiver.received.filter(({ deliveryId }) => deliveryId === id)).toHaveLength(1);
  await sql.unsafe('drop trigger lose_deadlock on webhook_deliveries');
});

test('delivery outcomes: an outcome that cannot be written does not affect others of the same batch', async () => {
  const { sql } = plane().database;
  const owner = await plane().createMember('owner');
  const bad = await plane().createMember('owner');
  await sql.unsafe(`
    create function refuse_one() returns trigger language plpgsql as $$ begin
      if new.org_id = '${bad.orgId}' then raise exception 'cannot be written' using errcode = '22000'; end if;
      return new;
    end $$;
    create trigger refuse_one before update on webhook_deliveries for each row when (new.status = 'success')
      execute function refuse_one();`);
  // All receive a response at the same time, so their outcomes are written together.
  const waiting: (() => void)[] = [];
  receiver.on('/together', (response) => void waiting.push(() => response.writeHead(200).end()));
  const ids = [];
  for (const member of [owner, bad, owner, owner]) ids.push({ member, id: await sendTestEvent(member, '/together') });
  await waitUntil('all wait for their answers', () => waiting.length === 4);
  for (const answer of waiting) answer();
  for (const { member, id } of ids) {
    if (member === owner) expect(await awaitOutcome(owner, id)).toBe('success');
  }
  for (const { member, id } of ids) {
    if (member === owner) expect(receiver.received.filter(({ deliveryId }) => deliveryId === id)).toHaveLength(1);
  }
  await sql.unsafe('drop trigger refuse_one on webhook_deliveries');
});

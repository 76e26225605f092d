import type { Area } from '../mutant.js';

export const WEBHOOKS: Area = {
  name: 'webhooks',
  tests: ['test/src/webhooks'],
  built: false,
  mutants: [
    {
      file: 'controlplane/src/webhooks/fanout.ts',
      find: 'join webhook_endpoints e on e.org_id = b.org_id and e.status',
      put: 'join webhook_endpoints e on e.status',
      bug: 'events go to the endpoints of other tenants',
    },
    {
      file: 'controlplane/src/webhooks/fanout.ts',
      find: `e.status = 'active' and b.event = any(e.events)`,
      put: 'b.event = any(e.events)',
      bug: 'a paused endpoint gathers deliveries',
    },
    {
      file: 'controlplane/src/webhooks/fanout.ts',
      find: `e.status = 'active' and b.event = any(e.events)`,
      put: `e.status = 'active'`,
      bug: 'an endpoint gets events that it did not ask for',
    },
    {
      file: 'controlplane/src/webhooks/fanout.ts',
      find: `         and e.created_at <= b.occurred_at
`,
      put: `
`,
      bug: 'a new endpoint gets events from before it',
    },
    {
      file: 'controlplane/src/webhooks/fanout.ts',
      find: 'update events set fanned_out_at = now() from batch where events.id = batch.id returning 1',
      put: 'select 1 from batch',
      bug: 'events become deliveries for ever',
      tests: ['test/src/webhooks', 'test/src/events.test.ts'],
    },
    {
      file: 'controlplane/src/webhooks/schedule.ts',
      find: 'const delayMs = delaysMs[attempts - 1];',
      put: 'const delayMs = delaysMs[attempts];',
      bug: 'one retry less, and too late',
      tests: ['controlplane/src/webhooks/schedule.test.ts'],
    },
    {
      file: 'controlplane/src/webhooks/schedule.ts',
      find: `  if (delivered) return { status: 'success' };
`,
      put: '',
      bug: 'a delivery that arrived is sent again',
      tests: ['controlplane/src/webhooks/schedule.test.ts'],
    },
    {
      file: 'controlplane/src/webhooks/attempt.ts',
      find: '  if (status >= 200 && status < 300) return null;',
      put: '  if (status >= 200 && status < 400) return null;',
      bug: 'a redirect counts as delivered',
    },
    {
      file: 'controlplane/src/webhooks/attempt.ts',
      find: '      if (bytes > BODY_BYTES_MAX) break;',
      put: '      if (bytes < 0) break;',
      bug: 'an endless answer is read on',
    },
    {
      file: 'controlplane/src/webhooks/attempt.ts',
      find: `'x-webhook-signature': signatures.at(-1)!,`,
      put: `'x-webhook-signature': signatures[0]!,`,
      bug: 'receivers that know the old secret only refuse what comes during its overlap',
    },
    {
      file: 'controlplane/src/webhooks/attempt.ts',
      find: `'x-webhook-delivery': deliveryId,`,
      put: `'x-webhook-delivery': event,`,
      bug: 'receivers cannot tell a repeated delivery',
    },
    {
      file: 'controlplane/src/webhooks/attempt.ts',
      find: `return { statusCode: null, error: late ? 'timeout' : classOfError(error) };`,
      put: 'return { statusCode: null, error: classOfError(error) };',
      bug: 'a receiver that hangs shows as a network failure',
    },
    {
      file: 'controlplane/src/webhooks/queue.ts',
      find: 'where d.id = r.id and d.lease = r.lease',
      put: 'where d.id = r.id',
      bug: 'a result is written although the lease was lost',
    },
    {
      file: 'controlplane/src/webhooks/queue.ts',
      find: `join webhook_endpoints e on e.id = w.endpoint_id and e.status = 'active'`,
      put: 'join webhook_endpoints e on e.id = w.endpoint_id',
      bug: 'deliveries of a paused endpoint are sent',
    },
    {
      file: 'controlplane/src/webhooks/queue.ts',
      find: `status = 'pending' and next_attempt_at <= now()`,
      put: `status = 'pending'`,
      bug: 'retries do not wait',
    },
    {
      file: 'controlplane/src/webhooks/queue.ts',
      find: 'limit ready.room for update skip locked',
      put: 'limit 1000 for update skip locked',
      bug: 'one endpoint takes all the workers',
    },
    {
      file: 'controlplane/src/webhooks/queue.ts',
      find: 'attempts = d.attempts + 1,',
      put: 'attempts = d.attempts + 0,',
      bug: 'a failing delivery is retried for ever',
    },
    {
      file: 'controlplane/src/webhooks/queue.ts',
      find: 'set failing_since = case when not h.delivered then coalesce(e.failing_since, now()) end,',
      put: 'set failing_since = case when not h.delivered then now() end,',
      bug: 'a failing endpoint is never paused',
    },
    {
      file: 'controlplane/src/webhooks/queue.ts',
      find: `and e.failing_since <= now() - \${FAILING_DAYS} * interval '1 day' as failing`,
      put: 'and true as failing',
      bug: 'a short outage pauses an endpoint',
    },
    {
      file: 'controlplane/src/webhooks/queue.ts',
      find: `     where lease = any(\${[...leases]}::uuid[]) and status = 'pending'\`;`,
      put: '     where lease = any(${[...leases]}::uuid[])`;',
      bug: 'what was just delivered is given back',
      equivalent: 'a lease is null as soon as a result is written, so a finished delivery has none',
    },
    {
      file: 'controlplane/src/webhooks/shares.ts',
      find: 'const even = Math.ceil((this.free - running) / 2);',
      put: 'const even = this.free;',
      bug: 'one organization takes all the workers',
      tests: ['controlplane/src/webhooks/shares.test.ts'],
    },
    {
      file: 'controlplane/src/webhooks/shares.ts',
      find: 'const quarter = this.#inUse > this.#slots / 2 ? this.#slots / 4 - running : even;',
      put: 'const quarter = even;',
      bug: 'an organization holds more than a quarter of a busy pool',
      tests: ['controlplane/src/webhooks/shares.test.ts'],
    },
    {
      file: 'controlplane/src/webhooks/endpoint-concurrency.ts',
      find: `    if (durationMs >= this.#slowAfterMs) this.#slow.set(endpointId, true);
    else this.#slow.delete(endpointId);`,
      put: '    if (durationMs >= this.#slowAfterMs) this.#slow.set(endpointId, true);',
      bug: 'a slow endpoint stays slow',
      tests: ['controlplane/src/webhooks/endpoint-concurrency.test.ts'],
    },
    {
      file: 'controlplane/src/webhooks/endpoint-concurrency.ts',
      find: 'room: Math.max(0, ceiling - running)',
      put: 'room: Math.max(0, CONCURRENCY - running)',
      bug: 'a hanging endpoint holds four workers',
      tests: ['controlplane/src/webhooks/endpoint-concurrency.test.ts'],
    },
    {
      file: 'controlplane/src/webhooks/dispatcher.ts',
      find: `    if (!this.#running.delete(delivery.lease)) return;
`,
      put: `    this.#running.delete(delivery.lease);
`,
      bug: 'an attempt that was given back writes its result',
      tests: ['test/src/webhooks'],
    },
    {
      file: 'controlplane/src/webhooks/dispatcher.ts',
      find: `    await giveBack(
      this.#options.sql,
      left.map((a) => a.lease),
    ).catch(() => {});`,
      put: '    void left;',
      bug: 'after a stop deliveries wait for their lease to end',
    },
    {
      file: 'controlplane/src/webhooks/dispatcher.ts',
      find: `    for (const { stop } of left) stop.abort();
`,
      put: '',
      bug: 'a stop waits for hanging receivers',
    },
    {
      file: 'controlplane/src/webhooks/dispatcher.ts',
      find: `    this.#after = next;
`,
      put: '',
      bug: 'endpoints behind the first ten thousand starve',
      equivalent: 'the walk of one claim is longer than any test can fill; the queue’s own test gives it a short one',
    },
    {
      file: 'controlplane/src/webhooks/delivery-sender.ts',
      find: `const identity = { purpose: 'webhook', orgId, id: endpointId } as const;`,
      put: `const identity = { purpose: 'account', orgId, id: endpointId } as const;`,
      bug: 'signing secrets cannot be opened',
    },
    {
      file: 'controlplane/src/webhooks/delivery-sender.ts',
      find: 'if (--tenant.running === 0 && this.#tenants.delete(orgId)) void tenant.agent.close();',
      put: 'tenant.running--;',
      bug: 'connections of organizations stay for ever',
    },
  ],
};

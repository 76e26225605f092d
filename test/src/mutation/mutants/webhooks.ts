import type { Area } from '../mutant.js';

export const WEBHOOKS: Area = {
  name: 'webhooks',
  tests: ['test/src/webhooks'],
  built: false,
  mutants: [
    {
      file: 'controlplane/src/webhooks/event-fanout.ts',
      find: 'join webhook_endpoints e on e.org_id = b.org_id and e.status',
      put: 'join webhook_endpoints e on e.status',
      bug: 'events go to the endpoints of other tenants',
      tests: ['test/src/tenant-isolation/tenant-isolation.test.ts'],
    },
    {
      file: 'controlplane/src/webhooks/event-fanout.ts',
      find: `e.status = 'active' and b.event = any(e.events)`,
      put: 'b.event = any(e.events)',
      bug: 'a paused endpoint gathers deliveries',
    },
    {
      file: 'controlplane/src/webhooks/event-fanout.ts',
      find: `e.status = 'active' and b.event = any(e.events)`,
      put: `e.status = 'active'`,
      bug: 'an endpoint gets events that it did not ask for',
    },
    {
      file: 'controlplane/src/webhooks/event-fanout.ts',
      find: `         and e.created_at <= b.occurred_at
`,
      put: `
`,
      bug: 'a new endpoint gets events from before it',
    },
    {
      file: 'controlplane/src/webhooks/event-fanout.ts',
      find: 'update events set fanned_out_at = now() from batch where events.id = batch.id returning 1',
      put: 'select 1 from batch',
      bug: 'events become deliveries for ever',
      tests: ['test/src/webhooks', 'test/src/budget-and-abuse-events.test.ts'],
    },
    {
      file: 'controlplane/src/webhooks/retry-schedule.ts',
      find: 'const delayMs = delaysMs[attempts - 1];',
      put: 'const delayMs = delaysMs[attempts];',
      bug: 'one retry less, and too late',
      tests: ['controlplane/src/webhooks/retry-schedule.test.ts'],
    },
    {
      file: 'controlplane/src/webhooks/retry-schedule.ts',
      find: `  if (delivered) return { status: 'success' };
`,
      put: '',
      bug: 'a delivery that arrived is sent again',
      tests: ['controlplane/src/webhooks/retry-schedule.test.ts'],
    },
    {
      file: 'controlplane/src/webhooks/delivery-attempt.ts',
      find: '  if (status >= 200 && status < 300) return null;',
      put: '  if (status >= 200 && status < 400) return null;',
      bug: 'a redirect counts as delivered',
    },
    {
      file: 'controlplane/src/webhooks/delivery-attempt.ts',
      find: '      if (bytes > BODY_BYTES_MAX) break;',
      put: '      if (bytes < 0) break;',
      bug: 'an endless response is read on',
    },
    {
      file: 'controlplane/src/webhooks/delivery-attempt.ts',
      find: `'x-webhook-signature': signatures.at(-1)!,`,
      put: `'x-webhook-signature': signatures[0]!,`,
      bug: 'receivers with the old secret only reject deliveries during its overlap',
    },
    {
      file: 'controlplane/src/webhooks/delivery-attempt.ts',
      find: `'x-webhook-delivery': deliveryId,`,
      put: `'x-webhook-delivery': event,`,
      bug: 'receivers cannot recognize a repeated delivery',
    },
    {
      file: 'controlplane/src/webhooks/delivery-attempt.ts',
      find: `return { statusCode: null, error: late ? 'timeout' : failureOfError(error) };`,
      put: `return { statusCode: null, error: failureOfError(error) };`,
      bug: 'a receiver that hangs shows as a network failure',
    },
    {
      file: 'controlplane/src/webhooks/delivery-queue.ts',
      find: 'where d.id = r.id and d.lease = r.lease',
      put: 'where d.id = r.id',
      bug: 'a result is written although the lease was lost',
    },
    {
      file: 'controlplane/src/webhooks/delivery-queue.ts',
      find: `join webhook_endpoints e on e.id = w.endpoint_id and e.status = 'active'`,
      put: 'join webhook_endpoints e on e.id = w.endpoint_id',
      bug: 'deliveries of a paused endpoint are sent',
    },
    {
      file: 'controlplane/src/webhooks/delivery-queue.ts',
      find: `status = 'pending' and next_attempt_at <= now()`,
      put: `status = 'pending'`,
      bug: 'retries do not wait',
    },
    {
      file: 'controlplane/src/webhooks/delivery-queue.ts',
      find: 'limit ready.room for update skip locked',
      put: 'limit 1000 for update skip locked',
      bug: 'one endpoint takes all worker slots',
    },
    {
      file: 'controlplane/src/webhooks/delivery-queue.ts',
      find: 'attempts = d.attempts + 1,',
      put: 'attempts = d.attempts + 0,',
      bug: 'a failing delivery is retried for ever',
    },
    {
      file: 'controlplane/src/webhooks/delivery-queue.ts',
      find: 'set failing_since = case when not h.delivered then coalesce(e.failing_since, now()) end,',
      put: 'set failing_since = case when not h.delivered then now() end,',
      bug: 'a failing endpoint is never paused',
    },
    {
      file: 'controlplane/src/webhooks/delivery-queue.ts',
      find: `and e.failing_since <= now() - \${PAUSE_AFTER_FAILING_DAYS} * interval '1 day' as failing`,
      put: 'and true as failing',
      bug: 'a short outage pauses an endpoint',
    },
    {
      file: 'controlplane/src/webhooks/delivery-queue.ts',
      find: `     where lease = any(\${[...leases]}::uuid[]) and status = 'pending'\`;`,
      put: '     where lease = any(${[...leases]}::uuid[])`;',
      bug: 'a completed delivery is released',
      equivalent: 'a lease is null as soon as a result is written, so a finished delivery has none',
    },
    {
      file: 'controlplane/src/webhooks/org-concurrency.ts',
      find: 'const even = Math.ceil((this.free - running) / 2);',
      put: 'const even = this.free;',
      bug: 'one organization takes all worker slots',
      tests: ['controlplane/src/webhooks/org-concurrency.test.ts'],
    },
    {
      file: 'controlplane/src/webhooks/org-concurrency.ts',
      find: `const quarter = this.#inUse > this.#slotCount / 2 ? this.#slotCount / 4 - running : even;`,
      put: 'const quarter = even;',
      bug: 'an organization holds more than a quarter of a busy pool',
      tests: ['controlplane/src/webhooks/org-concurrency.test.ts'],
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
      find: `freeSlots: Math.max(0, ceiling - running)`,
      put: `freeSlots: Math.max(0, CONCURRENCY - running)`,
      bug: 'a hanging endpoint holds four workers',
      tests: ['controlplane/src/webhooks/endpoint-concurrency.test.ts'],
    },
    {
      file: 'controlplane/src/webhooks/delivery-dispatcher.ts',
      find: `    if (!this.#running.delete(delivery.lease)) return;
`,
      put: `    this.#running.delete(delivery.lease);
`,
      bug: 'a released attempt writes its result',
      equivalent: 'its lease was released with it: the statement that writes results finds no row',
    },
    {
      file: 'controlplane/src/webhooks/delivery-dispatcher.ts',
      find: `    await releaseLeases(
      this.#options.sql,
      left.map((a) => a.lease),
    ).catch(() => {});`,
      put: '    void left;',
      bug: 'after a shutdown deliveries wait for their lease to expire',
    },
    {
      file: 'controlplane/src/webhooks/delivery-dispatcher.ts',
      find: `    for (const { stop } of left) stop.abort();
`,
      put: '',
      bug: 'shutdown waits for hanging receivers',
      equivalent: 'no code waits for them, and the sender destroys its connections right after, which closes them',
    },
    {
      file: 'controlplane/src/webhooks/delivery-dispatcher.ts',
      find: `    this.#claimAfterEndpointId = next;
`,
      put: '',
      bug: 'endpoints behind the first ten thousand starve',
      equivalent: 'the scan of one claim is longer than any test can fill; the queue’s own test sets a short one',
    },
    {
      file: 'controlplane/src/webhooks/delivery-sender.ts',
      find: `const identity = { purpose: 'webhook', orgId, id: endpointId } as const;`,
      put: `const identity = { purpose: 'account', orgId, id: endpointId } as const;`,
      bug: 'signing secrets cannot be opened',
    },
    {
      file: 'controlplane/src/webhooks/delivery-sender.ts',
      find: `if (--tenant.running === 0 && this.#orgConnections.delete(orgId)) void tenant.agent.close();`,
      put: 'tenant.running--;',
      bug: 'connections of organizations stay for ever',
      equivalent: 'idle ones close by themselves after a second; only an entry in memory stays for each organization',
    },
    {
      file: 'controlplane/src/webhooks/webhook-service.ts',
      find: 'if (patch.url !== undefined) await this.#checkUrl(actor.orgId, patch.url);',
      put: '',
      bug: 'a changed URL may be a private address',
    },
    {
      file: 'controlplane/src/webhooks/webhook-service.ts',
      find: '    await this.#checkUrl(actor.orgId, input.url);\n',
      put: '',
      bug: 'a new URL may be a private address',
    },
    {
      file: 'controlplane/src/webhooks/webhook-service.ts',
      find: 'if ((await store.countEndpoints(tx, orgId)) >= ENDPOINTS_MAX) {',
      put: 'if ((await store.countEndpoints(tx, orgId)) < 0) {',
      bug: 'an organization has any number of endpoints',
    },
    {
      file: 'controlplane/src/webhooks/webhook-service.ts',
      find: `      await store.lockEndpointsOfOrg(tx, orgId);
`,
      put: '',
      bug: 'endpoints created concurrently exceed the bound',
    },
    {
      file: 'controlplane/src/webhooks/webhook-service.ts',
      find: `    await this.throttle.consume(\`replay:\${actor.orgId}\`, REPLAYS_MAX, REPLAYS_WINDOW_S, 'replays of deliveries');
`,
      put: '',
      bug: 'replays have no bound',
    },
    {
      file: 'controlplane/src/webhooks/webhook-service.ts',
      find: `    await this.throttle.consume(\`webhook-test:\${actor.orgId}\`, TESTS_MAX, TESTS_WINDOW_S, 'tests of webhooks');
`,
      put: '',
      bug: 'tests have no bound',
    },
    {
      file: 'controlplane/src/webhooks/webhook-service.ts',
      find: 'pausedReason: patch.status === undefined ? before.pausedReason : null,',
      put: 'pausedReason: before.pausedReason,',
      bug: 'an activated endpoint still shows that it was paused for failing',
    },
    {
      file: 'controlplane/src/webhooks/webhook-service.ts',
      find: "if (!(start < end)) throw new InvalidInput('end must be after start');",
      put: '',
      bug: 'a range that ends before it begins replays nothing without an error',
    },
    {
      file: 'controlplane/src/webhooks/webhook-signature.ts',
      find: "createHmac('sha256', secret.reveal()).update(body, 'utf8')",
      put: "createHmac('sha256', secret.reveal().slice(6)).update(body, 'utf8')",
      bug: 'receivers that sign with the whole secret reject everything',
      tests: ['controlplane/src/webhooks/webhook-signature.test.ts'],
    },
    {
      file: 'controlplane/src/webhooks/delivery-queue.ts',
      find: 'left join webhook_previous_secrets s on s.id = e.id and s.until > now()',
      put: 'left join webhook_previous_secrets s on s.id = e.id',
      bug: 'the old secret signs on after its overlap',
    },
    {
      file: 'controlplane/src/webhooks/webhook-store.ts',
      find: 'if (graceS > 0) {',
      put: 'if (graceS >= 0) {',
      bug: 'a rotation without an overlap leaves the old secret as a row',
      equivalent: 'it expires now: nothing signs with it, nothing shows it, and the next rotation deletes it',
    },
    {
      file: 'controlplane/src/webhooks/webhook-store.ts',
      find: '  await tx`delete from webhook_previous_secrets where id = ${id}`;\n',
      put: '',
      bug: 'a second rotation within the overlap fails',
    },
    {
      file: 'controlplane/src/webhooks/webhook-store.ts',
      find: "where org_id = ${orgId} and id = ${id} and status = 'failed'\n",
      put: 'where org_id = ${orgId} and id = ${id}\n',
      bug: 'a delivery that arrived is sent again by a retry',
    },
    {
      file: 'controlplane/src/webhooks/webhook-store.ts',
      find: 'failing_since = null, failed_attempts = 0, paused_reason',
      put: 'paused_reason',
      bug: 'an endpoint that was set active is paused by its next failure',
    },
    {
      file: 'controlplane/src/webhooks/webhook-store.ts',
      find: 'order by created_at, id limit ${limit} for update skip locked',
      put: 'order by created_at desc, id limit ${limit} for update skip locked',
      bug: 'a replay in parts leaves out the oldest',
    },
    {
      file: 'controlplane/src/webhooks/delivery-attempt.ts',
      find: 'setTimeout(() => stop.abort(), Math.min(timeoutMs, BODY_TIMEOUT_MS))',
      put: 'setTimeout(() => undefined, timeoutMs)',
      bug: 'a body that trickles holds a worker for ever',
    },
  ],
};

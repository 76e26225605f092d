import type { Area } from '../mutant.js';

export const CIRCUIT: Area = {
  name: 'circuit',
  tests: [
    'controlplane/src/breaker',
    'test/src/breaker/organization-breaker.test.ts',
    'test/src/breaker/organization-isolation.test.ts',
  ],
  built: false,
  mutants: [
    {
      file: 'controlplane/src/breaker/pending-outcomes.ts',
      find: `else if (record.circuitOutcome !== OUTCOME_NEUTRAL) this.#addCount(record, nowMs);`,
      put: 'else this.#addCount(record, nowMs);',
      bug: 'neutral outcomes count as successes',
    },
    {
      file: 'controlplane/src/breaker/pending-outcomes.ts',
      find: `good: record.circuitOutcome === OUTCOME_NEUTRAL ? null : record.circuitOutcome !== OUTCOME_FAILURE,`,
      put: `good: record.circuitOutcome !== OUTCOME_FAILURE,`,
      bug: 'a neutral probe closes the breaker',
    },
    {
      file: 'controlplane/src/breaker/pending-outcomes.ts',
      find: `      if (record.probeLease !== '') this.#addProbe(record);
      else if`,
      put: `      if (false) this.#addProbe(record);
      else if`,
      bug: 'results of probes count as ordinary outcomes',
    },
    {
      file: 'controlplane/src/breaker/pending-outcomes.ts',
      find: '    const endedAtMs = Math.min(record.startedAtMs + record.durationMs, nowMs);',
      put: '    const endedAtMs = record.startedAtMs + record.durationMs;',
      bug: 'a clock that runs ahead writes outcomes into the future',
    },
    {
      file: 'controlplane/src/breaker/pending-outcomes.ts',
      find: `      last.orgId === orgId &&
`,
      put: '',
      bug: 'a shared breaker’s outcomes of one organization count for another',
    },
    {
      file: 'controlplane/src/breaker/pending-outcomes.ts',
      find: 'this.#lastEpoch === recordEpoch',
      put: 'true',
      bug: 'outcomes of an older epoch count in the current one',
    },
    {
      file: 'controlplane/src/breaker/pending-outcomes.ts',
      find: 'return name.orgId === orgId ? { circuitKey: key, epoch: circuitEpoch } : null;',
      put: 'return { circuitKey: key, epoch: circuitEpoch };',
      bug: 'a record moves the breaker of another organization',
    },
    {
      file: 'controlplane/src/breaker/pending-outcomes.ts',
      find: `return { circuitKey: formatCircuitKey({ ...name, orgId }), epoch: 0 };`,
      put: 'return null;',
      bug: 'during an upgrade outcomes of old data planes are lost',
    },
    {
      file: 'controlplane/src/breaker/breaker-state-machine.ts',
      find: `circuit.state === 'CLOSED' && shouldOpen(input.evidence`,
      put: `shouldOpen(input.evidence`,
      bug: 'counts open a half-open breaker',
    },
    {
      file: 'controlplane/src/breaker/breaker-state-machine.ts',
      find: `      if (!input.good) return opened();
`,
      put: '',
      bug: 'a failed probe counts as a success',
    },
    {
      file: 'controlplane/src/breaker/breaker-state-machine.ts',
      find: 'evidence.requests >= rules.requestsMin && ',
      put: '',
      bug: 'one failure opens a breaker',
    },
    {
      file: 'controlplane/src/breaker/breaker-state-machine.ts',
      find: `failureRateOf(evidence) >= rules.errorRate`,
      put: `failureRateOf(evidence) > rules.errorRate`,
      bug: 'the rate itself does not open',
    },
    {
      file: 'controlplane/src/breaker/breaker-state-machine.ts',
      find: `return othersFail && hasFailuresInRow(evidence);`,
      put: 'return othersFail;',
      bug: 'failures of other organizations open the breaker of an organization',
    },
    {
      file: 'controlplane/src/breaker/breaker-state-machine.ts',
      find: `return othersFail && hasFailuresInRow(evidence);`,
      put: `return hasFailuresInRow(evidence);`,
      bug: 'three failures open a breaker while no other organization fails',
    },
    {
      file: 'controlplane/src/breaker/breaker-state-machine.ts',
      find: ' && (activeAgents < 2 || failingAgents >= 2)',
      put: '',
      bug: 'one of two agents opens the breaker by three failures',
    },
    {
      file: 'controlplane/src/breaker/breaker-state-machine.ts',
      find: 'counts.filter((count) => count.secondMs > goodAtMs)',
      put: 'counts.filter((count) => count.secondMs >= goodAtMs)',
      bug: 'failures in the second of a success count as later ones',
    },
    {
      file: 'controlplane/src/breaker/breaker-state-machine.ts',
      find: 'rules.cooldownMs * (1 + COOLDOWN_JITTER * random())',
      put: 'rules.cooldownMs',
      bug: 'the probes of all organizations come at once',
    },
    {
      file: 'controlplane/src/breaker/circuit-store.ts',
      find: '  await tx`select pg_notify(${CIRCUIT_CHANNEL}, notice) from unnest(${notices}::text[]) as notice`;\n',
      put: '  void notices;\n',
      bug: 'control planes find a change only by polling',
    },
    {
      file: 'controlplane/src/breaker/circuit-store.ts',
      find: `
       and succeeded_at > opened_at - interval '1 day'
     group by origin_key`,
      put: `
     group by origin_key`,
      bug: 'breakers of new organizations are evidence for others',
    },
    {
      file: 'controlplane/src/breaker/circuit-store.ts',
      find: 'having count(distinct org_id) >= ${OTHERS_MIN}',
      put: 'having count(distinct org_id) > ${OTHERS_MIN}',
      bug: 'two organizations are no evidence for a third',
    },
    {
      file: 'controlplane/src/breaker/org-breakers.ts',
      find: 'good === null || (onlyLeased && !leases.has(lease))',
      put: 'good === null',
      bug: 'a repeated result counts twice',
    },
    {
      file: 'controlplane/src/breaker/org-breakers.ts',
      find: `        this.#pending.requeueProbes(probes.slice(offset));
`,
      put: '',
      bug: 'results of probes are lost while the database is down',
    },
    {
      file: 'controlplane/src/breaker/breaker-transitions.ts',
      find: 'if (seen !== null && row.orgId !== null) {',
      put: 'if (seen === null && row.orgId !== null) {',
      bug: 'an outage has no event',
    },
    {
      file: 'controlplane/src/breaker/breaker-transitions.ts',
      find: 'seen: row.announced ? null : { requests: 1, failures: 1 }',
      put: 'seen: null',
      bug: 'an outage after a manual override has no event',
    },
    {
      file: 'controlplane/src/breaker/fleet-breakers.ts',
      find: 'unreachable > 0 && unreachable === inContact && (unreachable >= 2 || connected <= 1)',
      put: 'unreachable > 0 && unreachable === inContact',
      bug: 'one of several data planes stops all calls',
    },
    {
      file: 'controlplane/src/breaker/fleet-breakers.ts',
      find: `      if (row.reason === 'held' && row.openUntilMs > row.nowMs) continue;
`,
      put: '',
      bug: 'reports of data planes end a manual override',
      tests: ['test/src/breaker/fleet-breaker.test.ts'],
    },
    {
      file: 'controlplane/src/breaker/circuit-change-feed.ts',
      find: `state !== 'CLOSED' || openUntilMs > Date.now()`,
      put: `state === 'OPEN' || openUntilMs > Date.now()`,
      bug: 'a joining data plane treats a half-open breaker as closed',
    },
    {
      file: 'dataplane/src/breaker/connect-breaker.ts',
      find: ` || nowMs - this.#firstFailedMs < FAILING_MS_MIN`,
      put: '',
      bug: 'five failures at once open the connect breaker',
      tests: ['dataplane/src/circuit'],
    },
    {
      file: 'dataplane/src/breaker/connect-breaker-registry.ts',
      find: `!failure.local && !this.#options.hasStalledSince(startedMs) && `,
      put: '',
      bug: 'a lack of file descriptors opens the connect breaker',
      tests: ['dataplane/src/circuit'],
    },
    {
      file: 'dataplane/src/breaker/breaker-registry.ts',
      find: `return !isOverridden && this.#connectBreakers.isOpen(origin)`,
      put: `return this.#connectBreakers.isOpen(origin)`,
      bug: 'a manual override does not let calls pass',
      tests: ['dataplane/src/circuit'],
    },
    {
      file: 'controlplane/src/breaker/breaker-state-machine.ts',
      find: `return circuit.state === 'OPEN' && nowMs >= circuit.openUntilMs ?`,
      put: `return circuit.state === 'OPEN' && nowMs > 0 ?`,
      bug: 'the cooldown has no effect',
    },
    {
      file: 'controlplane/src/breaker/breaker-state-machine.ts',
      find: `if (circuit.state !== 'HALF_OPEN' || input.epoch !== circuit.epoch) return circuit;`,
      put: `if (circuit.state !== 'HALF_OPEN') return circuit;`,
      bug: 'a late probe decides in a newer epoch',
    },
    {
      file: 'controlplane/src/breaker/breaker-state-machine.ts',
      find: 'return circuit.probesGood + 1 >= rules.probes',
      put: 'return circuit.probesGood >= rules.probes',
      bug: 'one more successful probe than configured is needed',
    },
    {
      file: 'controlplane/src/breaker/breaker-state-machine.ts',
      find: 'Math.max(0, rules.probes - circuit.probesGood - leased)',
      put: 'Math.max(0, rules.probes - leased)',
      bug: 'more probes than configured',
    },
    {
      file: 'controlplane/src/breaker/breaker-state-machine.ts',
      find: '  if (outcome.epoch !== 0) return outcome.epoch === circuit.epoch;',
      put: '  if (outcome.epoch !== 0) return true;',
      bug: 'outcomes of an older epoch count',
    },
    {
      file: 'controlplane/src/breaker/breaker-state-machine.ts',
      find: 'return circuit.epoch === NEW_CIRCUIT.epoch || outcome.startedAtMs >= changedAtMs;',
      put: 'return true;',
      bug: 'calls from before the transition count after it',
    },
    {
      file: 'controlplane/src/breaker/probe-leases.ts',
      find: `const free = row.epoch === epoch && (await this.#availableProbes(tx, row)) > 0;`,
      put: 'const free = row.epoch === epoch;',
      bug: 'two control planes assign the same probe slot',
    },
    {
      file: 'controlplane/src/breaker/probe-leases.ts',
      find: 'epoch = ${circuit.epoch} and expires_at > clock_timestamp()`;',
      put: 'epoch = ${circuit.epoch}`;',
      bug: 'the probe slot of a dead data plane never becomes free',
    },
    {
      file: 'controlplane/src/breaker/probe-leases.ts',
      find: 'delete from circuit_probes where lease = ${lease} and circuit_key = ${circuitKey}',
      put: `delete from circuit_probes where circuit_key = \${circuitKey} and \${lease} <> ''`,
      bug: 'releasing one probe slot frees all',
    },
    {
      file: 'controlplane/src/breaker/circuit-store.ts',
      find: `where o.circuit_key = any(\${[...keys]}::text[])
       and o.second > clock_timestamp() - \${windowMs} * interval '1 millisecond'`,
      put: `where o.circuit_key = any(\${[...keys]}::text[])
       and \${windowMs} > 0`,
      bug: 'failures of an hour ago count',
    },
    {
      file: 'controlplane/src/breaker/circuit-store.ts',
      find: 'on c.circuit_key = o.circuit_key and c.epoch = o.epoch',
      put: 'on c.circuit_key = o.circuit_key',
      bug: 'failures of an older epoch open the breaker again',
    },
    {
      file: 'controlplane/src/breaker/circuit-change-feed.ts',
      find: `    if (known !== undefined && known.epoch >= circuit.epoch) return;
`,
      put: '',
      bug: 'an older state replaces a newer one',
    },
    {
      file: 'controlplane/src/breaker/circuit-change-feed.ts',
      find: `    for (const circuit of rows) this.#apply(circuit);
    this.#readAtMs`,
      put: '    this.#readAtMs',
      bug: 'a change whose notification was lost is never found',
    },
    {
      file: 'dataplane/src/breaker/breaker-registry.ts',
      find: 'if (known !== undefined && epoch < known.epoch) return;',
      put: '',
      bug: 'a late state replaces a newer one',
      tests: ['dataplane/src/circuit'],
    },
    {
      file: 'dataplane/src/breaker/breaker-registry.ts',
      find: `if (!listedKeys.has(key)) this.#breakers.delete(key);`,
      put: `void listedKeys;`,
      bug: 'after a reconnect a breaker that closed meanwhile stays open',
      tests: ['dataplane/src/circuit'],
    },
    {
      file: 'dataplane/src/breaker/breaker-registry.ts',
      find: `if (known.state !== 'OPEN' || this.#clock.isLinkUp()) return known;`,
      put: `if (known.state !== 'OPEN') return known;`,
      bug: 'a connected data plane ends the cooldown by itself',
      tests: ['dataplane/src/circuit'],
    },
    {
      file: 'dataplane/src/breaker/breaker-registry.ts',
      find: `if (this.#clock.nowMs() < known.openUntilMs + HALF_OPEN_GRACE_MS) return known;`,
      put: '',
      bug: 'a disconnected data plane lets calls through an open breaker at once',
      tests: ['dataplane/src/circuit'],
    },
    {
      file: 'dataplane/src/breaker/breaker-registry.ts',
      find: `return { state: 'HALF_OPEN', epoch: known.epoch, openUntilMs: 0 };`,
      put: `return known;`,
      bug: 'a breaker stays open for ever while disconnected',
      tests: ['dataplane/src/circuit'],
    },
    {
      file: 'dataplane/src/breaker/breaker-registry.ts',
      find: `if (nowMs - (this.#unleasedProbeAtMs.get(circuitKey) ?? 0) < UNLEASED_PROBE_INTERVAL_MS) return null;`,
      put: '',
      bug: 'every call is a probe while disconnected',
      tests: ['dataplane/src/circuit'],
    },
    {
      file: 'dataplane/src/breaker/breaker-registry.ts',
      find: 'if (state !== null) this.update(state);',
      put: '',
      bug: "a rejected probe does not report the breaker's state",
      tests: ['dataplane/src/circuit'],
    },
    {
      file: 'dataplane/src/breaker/breaker-registry.ts',
      find: 'if (lease !== NO_LEASE) this.#client.release(circuitKey, lease);',
      put: '',
      bug: 'an unused probe slot is not released',
      tests: ['dataplane/src/circuit'],
    },
    {
      file: 'dataplane/src/breaker/breaker-registry.ts',
      find: `if (this.#clock.nowMs() - known.receivedAtMs < CLOSED_TTL_MS) return known;`,
      put: `return known;`,
      bug: 'a breaker that closed long ago keeps its old epoch',
      tests: ['dataplane/src/circuit'],
    },
    {
      file: 'dataplane/src/breaker/breaker-registry.ts',
      find: `if (known === undefined && this.#breakers.size >= BREAKERS_MAX) this.#evictOldest();`,
      put: '',
      bug: 'the number of breakers in memory has no bound',
      tests: ['dataplane/src/circuit'],
      equivalent: 'more breakers than any fleet has: a test would only measure memory',
    },
  ],
};

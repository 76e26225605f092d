import type { Area } from '../mutant.js';

export const CIRCUIT: Area = {
  name: 'circuit',
  tests: ['controlplane/src/circuit', 'test/src/circuit/circuit.test.ts'],
  built: false,
  mutants: [
    {
      file: 'controlplane/src/circuit/pending-outcomes.ts',
      find: 'else if (record.circuitOutcome !== NEUTRAL) this.#addCount(record, nowMs);',
      put: 'else this.#addCount(record, nowMs);',
      bug: 'neutral outcomes count as successes',
    },
    {
      file: 'controlplane/src/circuit/pending-outcomes.ts',
      find: 'good: record.circuitOutcome === NEUTRAL ? null : record.circuitOutcome !== FAILURE,',
      put: 'good: record.circuitOutcome !== FAILURE,',
      bug: 'a probe that says nothing closes the circuit',
    },
    {
      file: 'controlplane/src/circuit/pending-outcomes.ts',
      find: `      if (record.probeLease !== '') this.#addProbe(record);
      else if`,
      put: `      if (false) this.#addProbe(record);
      else if`,
      bug: 'results of probes are counted as ordinary ones',
    },
    {
      file: 'controlplane/src/circuit/pending-outcomes.ts',
      find: `      last.orgId === orgId &&
`,
      put: '',
      bug: 'outcomes of one organization count for another',
    },
    {
      file: 'controlplane/src/circuit/pending-outcomes.ts',
      find: `      last.epoch === epoch
`,
      put: `      true
`,
      bug: 'outcomes of an older epoch count for the present one',
    },
    {
      file: 'controlplane/src/circuit/pending-outcomes.ts',
      find: '    const endedAtMs = Math.min(record.startedAtMs + record.durationMs, nowMs);',
      put: '    const endedAtMs = record.startedAtMs + record.durationMs;',
      bug: 'a clock that runs ahead writes outcomes into the future',
    },
    {
      file: 'controlplane/src/circuit/state-machine.ts',
      find: `circuit.state === 'CLOSED' && tripDue(input.counts, rules) ?`,
      put: 'tripDue(input.counts, rules) ?',
      bug: 'counts open a circuit that probes',
    },
    {
      file: 'controlplane/src/circuit/state-machine.ts',
      find: `return circuit.state === 'OPEN' && nowMs >= circuit.openUntilMs ?`,
      put: `return circuit.state === 'OPEN' && nowMs > 0 ?`,
      bug: 'the cooldown does not hold',
    },
    {
      file: 'controlplane/src/circuit/state-machine.ts',
      find: `if (circuit.state !== 'HALF_OPEN' || input.epoch !== circuit.epoch) return circuit;`,
      put: `if (circuit.state !== 'HALF_OPEN') return circuit;`,
      bug: 'a late probe decides about a newer epoch',
    },
    {
      file: 'controlplane/src/circuit/state-machine.ts',
      find: `      if (!input.good) return opened(circuit, nowMs, rules);
`,
      put: '',
      bug: 'a bad probe counts as good',
    },
    {
      file: 'controlplane/src/circuit/state-machine.ts',
      find: 'return circuit.probesGood + 1 >= rules.probes',
      put: 'return circuit.probesGood >= rules.probes',
      bug: 'one good probe more than needed',
    },
    {
      file: 'controlplane/src/circuit/state-machine.ts',
      find: `  if (sumOf(counts).requests < rules.requestsMin) return false;
`,
      put: '',
      bug: 'one failure opens a circuit',
    },
    {
      file: 'controlplane/src/circuit/state-machine.ts',
      find: 'rateOf(count) >= rules.errorRate;',
      put: 'rateOf(count) > rules.errorRate;',
      bug: 'the rate itself does not open',
    },
    {
      file: 'controlplane/src/circuit/state-machine.ts',
      find: 'count.requests >= ORG_REQUESTS_MIN',
      put: 'count.requests >= 1',
      bug: 'an organization with one call has a vote',
    },
    {
      file: 'controlplane/src/circuit/state-machine.ts',
      find: '  const voters = users.filter((count) => count.succeeded);',
      put: '  const voters = users;',
      bug: 'newcomers vote',
    },
    {
      file: 'controlplane/src/circuit/state-machine.ts',
      find: 'return against >= (users.length > 1 ? 2 : 1) && against * 2 >= voters.length;',
      put: 'return against >= (users.length > 1 ? 2 : 1);',
      bug: 'two of ten stop the others',
    },
    {
      file: 'controlplane/src/circuit/state-machine.ts',
      find: 'return against >= (users.length > 1 ? 2 : 1) && against * 2 >= voters.length;',
      put: 'return against >= 1 && against * 2 >= voters.length;',
      bug: 'one organization stops the others',
    },
    {
      file: 'controlplane/src/circuit/state-machine.ts',
      find: 'Math.max(0, rules.probes - circuit.probesGood - leased)',
      put: 'Math.max(0, rules.probes - leased)',
      bug: 'more probes than the rules say',
    },
    {
      file: 'controlplane/src/circuit/state-machine.ts',
      find: '  if (outcome.epoch !== 0) return outcome.epoch === circuit.epoch;',
      put: '  if (outcome.epoch !== 0) return true;',
      bug: 'outcomes of an older epoch count',
    },
    {
      file: 'controlplane/src/circuit/state-machine.ts',
      find: 'return circuit.epoch === NEW_CIRCUIT.epoch || outcome.startedAtMs >= changedAtMs;',
      put: 'return true;',
      bug: 'calls from before the transition count after it',
    },
    {
      file: 'controlplane/src/circuit/probes.ts',
      find: 'const free = row.epoch === epoch && (await this.#places(tx, row)) > 0;',
      put: 'const free = row.epoch === epoch;',
      bug: 'two control planes give out the same place',
    },
    {
      file: 'controlplane/src/circuit/probes.ts',
      find: 'epoch = ${circuit.epoch} and expires_at > clock_timestamp()`;',
      put: 'epoch = ${circuit.epoch}`;',
      bug: 'the place of a dead data plane is never free again',
    },
    {
      file: 'controlplane/src/circuit/probes.ts',
      find: 'delete from circuit_probes where lease = ${lease} and circuit_key = ${circuitKey}',
      put: `delete from circuit_probes where circuit_key = \${circuitKey} and \${lease} <> ''`,
      bug: 'giving one place back frees all',
    },
    {
      file: 'controlplane/src/circuit/store.ts',
      find: `where o.circuit_key = any(\${[...keys]}::text[])
       and o.second > clock_timestamp() - \${windowMs} * interval '1 millisecond'`,
      put: `where o.circuit_key = any(\${[...keys]}::text[])
       and \${windowMs} > 0`,
      bug: 'failures of an hour ago count',
    },
    {
      file: 'controlplane/src/circuit/store.ts',
      find: 'on c.circuit_key = o.circuit_key and c.epoch = o.epoch',
      put: 'on c.circuit_key = o.circuit_key',
      bug: 'failures of an older epoch open the circuit again',
    },
    {
      file: 'controlplane/src/circuit/store.ts',
      find: `  await tx\`delete from circuit_probes where circuit_key = \${key}\`;
`,
      put: '',
      bug: 'leases of an older epoch stay',
      equivalent: 'places are counted by epoch, and a result names its own; what is left goes an hour after its end',
    },
    {
      file: 'controlplane/src/circuit/store.ts',
      find: `  await tx\`select pg_notify(\${CIRCUIT_CHANNEL}, \${JSON.stringify(notice)})\`;
`,
      put: `  void notice;
`,
      bug: 'control planes hear of a change only by looking',
    },
    {
      file: 'controlplane/src/circuit/store.ts',
      find: `     where provider_slug = \${circuit.providerSlug} and custom_provider_id is null
`,
      put: `     where provider_slug = \${circuit.providerSlug}
`,
      bug: 'an organization with a custom provider of that name is told',
      tests: ['test/src/circuit/circuit.test.ts', 'test/src/events.test.ts'],
    },
    {
      file: 'controlplane/src/circuit/store.ts',
      find: 'where s.circuit_key = o.circuit_key and s.org_id = o.org_id and s.at',
      put: 'where s.circuit_key = o.circuit_key and s.at',
      bug: 'the success of another organization gives a vote',
    },
    {
      file: 'controlplane/src/circuit/board.ts',
      find: '    for (const [key, orgs] of windows) if (tripDue(orgs, this.#rules)) await this.#trip(key);',
      put: `    for (const key of windows.keys()) if (key === '') await this.#trip(key);`,
      bug: 'no circuit opens',
    },
    {
      file: 'controlplane/src/circuit/board.ts',
      find: 'if (circuit === null || probe.good === null || (onlyLeased && count === 0)) return;',
      put: 'if (circuit === null || probe.good === null) return;',
      bug: 'a repeated result counts twice',
    },
    {
      file: 'controlplane/src/circuit/board.ts',
      find: `        this.#pending.putBack(probes.slice(i));
`,
      put: '',
      bug: 'results of probes are lost while the database is away',
    },
    {
      file: 'controlplane/src/circuit/board.ts',
      find: `    if (input.kind === 'counts') await this.#announce(tx, circuit, 'OPEN', sumOf(input.counts));
`,
      put: '',
      bug: 'nobody is told of an outage',
      tests: ['test/src/circuit/circuit.test.ts', 'test/src/events.test.ts'],
    },
    {
      file: 'controlplane/src/circuit/board.ts',
      find: 'circuits.get(circuitKey)!.orgId !== null || this.#succeeded.has(name)',
      put: 'this.#succeeded.has(name)',
      bug: 'successes of custom providers are kept',
      equivalent:
        'a custom provider has one organization, which decides alone: its successes are rows that nobody reads',
    },
    {
      file: 'controlplane/src/circuit/circuit-feed.ts',
      find: `    if (known !== undefined && known.epoch >= circuit.epoch) return;
`,
      put: '',
      bug: 'an older state takes the place of a newer one',
    },
    {
      file: 'controlplane/src/circuit/circuit-feed.ts',
      find: `[...this.#known.values()].filter((circuit) => circuit.state !== 'CLOSED')`,
      put: `[...this.#known.values()].filter((circuit) => circuit.state === 'OPEN')`,
      bug: 'a data plane that joins takes a half-open circuit for closed',
    },
    {
      file: 'controlplane/src/circuit/circuit-feed.ts',
      find: `    for (const circuit of rows) this.#take(circuit);
    this.#readAtMs`,
      put: '    this.#readAtMs',
      bug: 'a change whose notification was lost is never heard of',
    },
    {
      file: 'dataplane/src/circuit/circuit-board.ts',
      find: 'if (known !== undefined && epoch < known.epoch) return;',
      put: '',
      bug: 'a state that comes late takes the place of a newer one',
      tests: ['dataplane/src/circuit'],
    },
    {
      file: 'dataplane/src/circuit/circuit-board.ts',
      find: 'if (!named.has(key)) this.#circuits.delete(key);',
      put: 'void named;',
      bug: 'after a reconnection a circuit that closed meanwhile stays open',
      tests: ['dataplane/src/circuit'],
    },
    {
      file: 'dataplane/src/circuit/circuit-board.ts',
      find: "if (circuit.state !== 'OPEN' || this.#clock.linkUp()) return circuit;",
      put: "if (circuit.state !== 'OPEN') return circuit;",
      bug: 'while the link is up a data plane ends the cooldown by itself',
      tests: ['dataplane/src/circuit'],
    },
    {
      file: 'dataplane/src/circuit/circuit-board.ts',
      find: 'if (this.#clock.nowMs() < circuit.openUntilMs + OVERDUE_MS) return circuit;',
      put: '',
      bug: 'without a link an open circuit lets calls through at once',
      tests: ['dataplane/src/circuit'],
    },
    {
      file: 'dataplane/src/circuit/circuit-board.ts',
      find: "return { state: 'HALF_OPEN', epoch: circuit.epoch, openUntilMs: 0 };",
      put: 'return circuit;',
      bug: 'without a link a circuit stays open for ever',
      tests: ['dataplane/src/circuit'],
    },
    {
      file: 'dataplane/src/circuit/circuit-board.ts',
      find: 'if (nowMs - (this.#unleasedProbes.get(circuitKey) ?? 0) < UNLEASED_PROBE_MS) return null;',
      put: '',
      bug: 'without a link every call is a probe',
      tests: ['dataplane/src/circuit'],
    },
    {
      file: 'dataplane/src/circuit/circuit-board.ts',
      find: 'if (state !== null) this.update(state);',
      put: '',
      bug: 'a refused probe does not say what the circuit is now',
      tests: ['dataplane/src/circuit'],
    },
    {
      file: 'dataplane/src/circuit/circuit-board.ts',
      find: 'if (lease !== NO_LEASE) this.#client.release(circuitKey, lease);',
      put: '',
      bug: 'a place that is not used is not given back',
      tests: ['dataplane/src/circuit'],
    },
    {
      file: 'dataplane/src/circuit/circuit-board.ts',
      find: 'if (this.#clock.nowMs() - circuit.heardAtMs < CLOSED_MEMORY_MS) return circuit;',
      put: 'return circuit;',
      bug: 'a circuit that closed long ago keeps its old epoch',
      tests: ['dataplane/src/circuit'],
    },
    {
      file: 'dataplane/src/circuit/circuit-board.ts',
      find: 'if (known === undefined && this.#circuits.size >= CIRCUITS_MAX) this.#forgetOldest();',
      put: '',
      bug: 'the memory of circuits has no bound',
      tests: ['dataplane/src/circuit'],
      equivalent: 'more circuits than any fleet has: a test would only measure memory',
    },
  ],
};

import type { Area } from '../mutant.js';
import { CALL_COMPLETION } from './call-completion.js';
import { CONTEXTS } from './contexts.js';
import { RELAY } from './relay.js';

/** From the first byte of a request to its admission, in order. */
export const STAGES: Area = {
  name: 'stages',
  tests: ['dataplane/src/call/proxy-requests.test.ts', 'dataplane/src/call/delayed-body.test.ts'],
  built: false,
  mutants: [
    {
      file: 'dataplane/src/call/stages/authenticate.ts',
      find: `  if (context.keyExpiresAtMs !== null && nowMs >= context.keyExpiresAtMs) return REJECTIONS.unauthorized;
`,
      put: '',
      bug: 'an expired key still works from the cache',
      tests: ['dataplane/src/call/proxy-requests.test.ts'],
    },
    {
      file: 'dataplane/src/call/stages/authenticate.ts',
      find: `if (anyStatus || context.agentStatus === 'active') return null;`,
      put: `if (anyStatus || context.agentStatus !== 'revoked') return null;`,
      bug: 'a paused agent can still call',
      tests: ['dataplane/src/call/stage-order.test.ts'],
    },
    {
      file: 'dataplane/src/call/stages/authenticate.ts',
      find: `if (anyStatus || context.agentStatus === 'active') return null;`,
      put: `if (anyStatus || context.agentStatus !== 'paused') return null;`,
      bug: 'a revoked agent can still call',
      tests: ['dataplane/src/call/proxy-requests.test.ts'],
    },
    {
      file: 'dataplane/src/call/stages/authenticate.ts',
      find: `    if (typeof bucket === 'number') {`,
      put: `    if (typeof bucket === 'string') {`,
      bug: 'made-up tokens cause lookups without end',
      tests: ['dataplane/src/call/proxy-requests.test.ts'],
    },
    {
      file: 'dataplane/src/call/stages/authenticate.ts',
      find: `      deps.unauthenticatedLimiter.finishLookup(bucket, found.rejection === 'unknown_token');
`,
      put: '',
      bug: 'token lookups never end, and their client IP is blocked',
      tests: ['dataplane/src/call/proxy-requests.test.ts'],
    },
    {
      file: 'dataplane/src/call/stages/authenticate.ts',
      find: `found.rejection === 'unknown_token');`,
      put: `found.rejection !== null);`,
      bug: 'an outage of the control plane counts as made-up tokens',
      tests: ['dataplane/src/call/proxy-requests.test.ts'],
    },
    {
      file: 'dataplane/src/call/stages/authenticate.ts',
      find: `    exchange.access.agentRef = readAgentHeader(headers);
`,
      put: '',
      bug: 'the agent in a request is not looked up',
      tests: ['dataplane/src/call/proxy-requests.test.ts'],
    },
    {
      file: 'dataplane/src/call/stages/authenticate.ts',
      find: '    if (position === null || position === CONFLICTING_TOKENS) {',
      put: '    if (position === null) {',
      bug: 'one of two different tokens is accepted',
      tests: ['dataplane/src/call/proxy-requests.test.ts'],
    },
    {
      file: 'dataplane/src/call/stages/route.ts',
      find: `  if (upstream.accountStatus !== 'active') return REJECTIONS.needsCredentials;
`,
      put: '',
      bug: 'an account with rejected credentials is used',
      tests: ['dataplane/src/call/stage-order.test.ts'],
    },
    {
      file: 'dataplane/src/call/stages/route.ts',
      find: 'context.unassignedProviders.has(slug) ? REJECTIONS.notAssigned : REJECTIONS.unknownProvider',
      put: 'REJECTIONS.unknownProvider',
      bug: 'an unassigned provider is reported as missing',
      tests: ['dataplane/src/call/proxy-requests.test.ts'],
    },
    {
      file: 'dataplane/src/call/stages/route.ts',
      find: `  if (!isPathAllowed(shape, objectKeys, upstream.basePath)) return REJECTIONS.malformedTarget;
`,
      put: '',
      bug: `a path leaves the provider's base path`,
      tests: ['dataplane/src/call/proxy-requests.test.ts', 'dataplane/src/upstream/proxy-target.test.ts'],
    },
    {
      file: 'dataplane/src/call/stages/route.ts',
      find: 'endMs !== null && exchange.request.startedAtMs < endMs',
      put: 'endMs === null || exchange.request.startedAtMs < endMs',
      bug: 'a presigned URL without an expiry never expires',
      tests: ['test/src/sdk/s3.test.ts'],
    },
    {
      file: 'dataplane/src/call/stages/route.ts',
      find: 'endMs !== null && exchange.request.startedAtMs < endMs',
      put: 'endMs !== null',
      bug: 'a presigned URL works after its expiry',
      tests: ['test/src/sdk/s3.test.ts'],
    },
    {
      file: 'dataplane/src/call/stages/check-call-policy.ts',
      find: `  if (rules.isSensitive(method, providerPath, query, headers)) return REJECTIONS.sensitivePath;
`,
      put: '',
      bug: 'sensitive calls pass',
      tests: ['dataplane/src/call/check-call-policy.test.ts'],
    },
    {
      file: 'dataplane/src/call/stages/check-call-policy.ts',
      find: `  if (!rules.allows(method, providerPath, shape === 'regular', query, headers))
    return createCallForbiddenRejection(exchange);
`,
      put: '',
      bug: 'calls outside of the policy pass',
      tests: ['dataplane/src/call/check-call-policy.test.ts'],
    },
    {
      file: 'dataplane/src/call/stages/check-call-policy.ts',
      find: `  if (place === 'unknown' || exchange.handshake !== null) return createCallForbiddenRejection(exchange);`,
      put: `  if (place === 'unknown') return createCallForbiddenRejection(exchange);`,
      bug: 'a WebSocket uses models that are not checked',
      tests: ['dataplane/src/websocket/websocket.test.ts'],
    },
    {
      file: 'dataplane/src/call/stages/check-call-policy.ts',
      find: `  if (place === 'unknown' || exchange.handshake !== null) return createCallForbiddenRejection(exchange);`,
      put: `  if (exchange.handshake !== null) return createCallForbiddenRejection(exchange);`,
      bug: 'an unknown call passes a rule for models',
      equivalent: 'unknown paths are rejected: no path contains its model',
    },
    {
      file: 'dataplane/src/call/stages/check-call-policy.ts',
      find: `  return model === null ? createCallForbiddenRejection(exchange) : checkModelsAllowed(rules, [model]);`,
      put: `  return model === null ? createCallForbiddenRejection(exchange) : null;`,
      bug: 'the model in a path is not checked',
      tests: ['dataplane/src/call/check-call-policy.test.ts'],
    },
    {
      file: 'dataplane/src/call/stages/check-call-policy.ts',
      find: `  return rules === null ? null : checkModelsAllowed(rules, read.models);`,
      put: `  return rules === null ? null : checkModelsAllowed(rules, read.models.slice(0, 1));`,
      bug: 'only the first model of a body is checked',
      tests: ['dataplane/src/call/check-call-policy.test.ts'],
    },
    {
      file: 'dataplane/src/call/stages/check-call-policy.ts',
      find: `  if ('problem' in read) return createBodyProblemRejection(read.problem);`,
      put: `  if ('problem' in read) return null;`,
      bug: 'a body that can be read in two ways passes',
      tests: ['dataplane/src/call/check-call-policy.test.ts'],
    },
    {
      file: 'dataplane/src/rejection/body-rejections.ts',
      find: `    if (!rule.allows(model))
      return createForbiddenRejection(`,
      put: `    if (!rule.allows(model) && model.length > 1_000) return createForbiddenRejection(`,
      bug: 'a model that the policy denies passes',
      tests: ['dataplane/src/call/stage-order.test.ts'],
    },
    {
      file: 'dataplane/src/reservation/compute-reservation.ts',
      find: `  if (exchange.handshake !== null) return REJECTIONS.costNotBoundable;
`,
      put: '',
      bug: 'a WebSocket spends beside a hard budget',
      tests: ['dataplane/src/websocket/websocket.test.ts'],
    },
    {
      file: 'dataplane/src/reservation/compute-reservation.ts',
      find: `  if (place === 'unknown' || place === 'answer'`,
      put: `  if (place === 'answer'`,
      bug: 'a call that cannot be bounded passes a hard budget',
      tests: [
        'dataplane/src/reservation/compute-reservation.test.ts',
        'dataplane/src/reservation/reserved-stream.test.ts',
      ],
    },
    {
      file: 'dataplane/src/reservation/compute-reservation.ts',
      find: `  if (facts === 'unbounded') return REJECTIONS.costUnbounded;
`,
      put: `  if (facts === 'costUnbounded') return 0;
`,
      bug: 'a call that nothing bounds passes a hard budget',
      tests: [
        'dataplane/src/reservation/compute-reservation.test.ts',
        'dataplane/src/reservation/reserved-stream.test.ts',
      ],
    },
    {
      file: 'dataplane/src/reservation/compute-reservation.ts',
      find: 'perAnswer * answers * turns +',
      put: 'perAnswer * turns +',
      bug: 'several completions reserve as much as one',
      tests: [
        'dataplane/src/reservation/compute-reservation.test.ts',
        'dataplane/src/reservation/reserved-stream.test.ts',
      ],
    },
    {
      file: 'dataplane/src/reservation/compute-reservation.ts',
      find: 'tokensIn: facts.textTokens,',
      put: 'tokensIn: 0,',
      bug: 'the maximum of a call is not reserved',
      tests: [
        'dataplane/src/reservation/compute-reservation.test.ts',
        'dataplane/src/reservation/reserved-stream.test.ts',
      ],
    },
    {
      file: 'dataplane/src/reservation/compute-reservation.ts',
      find: `  if (facts === 'invalid') return REJECTIONS.invalidOutputMaximum;`,
      put: `  if (facts === 'invalid') return 0;`,
      bug: 'a maximum that is set twice reserves nothing',
      tests: [
        'dataplane/src/reservation/compute-reservation.test.ts',
        'dataplane/src/reservation/reserved-stream.test.ts',
      ],
    },
    {
      file: 'dataplane/src/reservation/compute-reservation.ts',
      find: `...CALL_WITHOUT_MODEL, units: 100`,
      put: `...CALL_WITHOUT_MODEL, units: 1`,
      bug: 'a batch of e-mails reserves as much as one',
      tests: ['dataplane/src/reservation/compute-reservation.test.ts'],
    },
    {
      file: 'dataplane/src/call/stages/acquire-slot.ts',
      find: '    if (rejection === null) return NEXT;',
      put: '    if (rejection === null || exchange.admission.slot === null) return NEXT;',
      bug: 'one organization takes all slots',
      tests: ['dataplane/src/call/stage-order.test.ts'],
    },
    {
      file: 'dataplane/src/call/stages/check-breaker.ts',
      find: `    if (circuit?.state !== 'OPEN') return NEXT;`,
      put: `    if (circuit?.state !== 'CLOSED') return NEXT;`,
      bug: 'an open breaker rejects only after the body was sent',
      tests: ['dataplane/src/call/delayed-body.test.ts'],
    },
    {
      file: 'dataplane/src/call/stages/check-breaker.ts',
      find: `    if (circuit.state === 'OPEN') {
`,
      put: `    if (circuit.state === 'OPEN' && circuit.openUntilMs < 0) {
`,
      bug: 'a breaker that opened during the body is ignored',
      tests: ['dataplane/src/call/delayed-body.test.ts'],
    },
    {
      file: 'dataplane/src/call/stages/check-breaker.ts',
      find: `        breakers.releaseProbe(circuitKey, lease); // The agent disconnected meanwhile.
`,
      put: '',
      bug: 'a probe slot is not released when the client disconnects while waiting',
      tests: ['dataplane/src/call/proxy-requests.test.ts'],
    },
    {
      file: 'dataplane/src/call/stages/check-breaker.ts',
      find: `    exchange.access.needsRecheck = true;
`,
      put: '',
      bug: 'a revocation while waiting for a probe slot is missed',
      tests: ['dataplane/src/call/delayed-body.test.ts'],
    },
    {
      file: 'dataplane/src/call/stages/check-breaker.ts',
      find: `    exchange.admission.circuitEpoch = circuit.epoch;
`,
      put: '',
      bug: 'results of a probe count for no epoch',
      tests: ['dataplane/src/call/proxy-requests.test.ts'],
    },
    {
      file: 'dataplane/src/call/stages/check-breaker.ts',
      find: `        exchange.reject(createCircuitOpenRejection(0, Date.now()));
      } else if`,
      put: `        advance(exchange);
      } else if`,
      bug: 'a call without a probe slot passes',
      tests: ['dataplane/src/call/delayed-body.test.ts', 'dataplane/src/call/proxy-requests.test.ts'],
    },
    {
      file: 'dataplane/src/call/stages/buffer-body.ts',
      find: `    exchange.access.needsRecheck = true;
`,
      put: '',
      bug: 'a revocation while waiting for the body is missed',
      tests: ['dataplane/src/call/delayed-body.test.ts'],
    },
    {
      file: 'dataplane/src/call/stages/buffer-body.ts',
      find: `    if (exchange.admission.bodyReader !== null && contentLength > deps.readBodyBytesMax) {`,
      put: `    if (exchange.admission.bodyReader !== null && contentLength < 0) {`,
      bug: 'a body too long to read is buffered first',
      tests: ['dataplane/src/call/check-call-policy.test.ts'],
    },
    {
      file: 'dataplane/src/call/stages/buffer-body.ts',
      find: '  const tooLarge = body.bytes > readBodyBytesMax;',
      put: '  const tooLarge = false;',
      bug: 'a chunked body too long to read is rejected for lack of memory',
      tests: ['dataplane/src/call/check-call-policy.test.ts'],
    },
    {
      file: 'dataplane/src/call/stages/buffer-body.ts',
      find: `  if (body.isComplete && !tooLarge) return true;`,
      put: `  if (body.isComplete || !tooLarge) return true;`,
      bug: 'a part of a body is read for the whole',
      tests: ['dataplane/src/call/check-call-policy.test.ts'],
    },
    {
      file: 'dataplane/src/call/stages/buffer-body.ts',
      find: `    setImmediate(precheck, exchange);
`,
      put: '',
      bug: 'a call over its limit uploads its body first',
      tests: ['dataplane/src/call/delayed-body.test.ts'],
    },
    {
      file: 'dataplane/src/call/stages/buffer-body.ts',
      find: `  if (!body.isComplete || exchange.admission.bodyReader !== null) startBuffering`,
      put: `  if (!body.isComplete) startBuffering`,
      bug: 'a body that arrives at once is not read',
      tests: ['dataplane/src/call/check-call-policy.test.ts'],
    },
    {
      file: 'dataplane/src/call/stages/recheck-access.ts',
      find: `    if (!exchange.access.needsRecheck) return NEXT;
`,
      put: `    if (!exchange.access.needsRecheck || exchange.access.tokenHash !== '') return NEXT;
`,
      bug: 'a delayed body outlives a revocation',
      tests: ['dataplane/src/call/delayed-body.test.ts'],
    },
    {
      file: 'dataplane/src/call/stages/recheck-access.ts',
      find: `checkLookup(exchange, lookup, Date.now());`,
      put: `checkLookup(exchange, lookup, exchange.request.startedAtMs);`,
      bug: 'a delayed body outlives the expiry of a key',
      tests: ['dataplane/src/call/delayed-body.test.ts'],
    },
    {
      file: 'dataplane/src/call/stages/recheck-access.ts',
      find: `  const denied = rules === null ? null : checkCallRules(exchange, rules);`,
      put: '  const denied = null;',
      bug: 'a delayed body outlives a change of the policy',
      tests: ['dataplane/src/call/delayed-body.test.ts'],
    },
    {
      file: 'dataplane/src/call/stages/recheck-access.ts',
      find: `    exchange.access.revoked = false;
`,
      put: '',
      bug: 'a change that revokes nothing rejects the call',
      tests: ['dataplane/src/call/delayed-body.test.ts'],
    },
    {
      file: 'dataplane/src/call/stages/recheck-access.ts',
      find: "if (now.origin !== upstream.origin || exchange.admission.probeLease !== '')",
      put: "if (exchange.admission.probeLease !== '')",
      bug: 'a call goes to an origin whose breaker was not checked',
      tests: ['dataplane/src/call/delayed-body.test.ts'],
    },
    {
      file: 'dataplane/src/call/stages/recheck-access.ts',
      find: `exchange.admission.bodyModels === null
    ? REJECTIONS.contextsUnavailable
    : null;`,
      put: 'exchange.admission.bodyModels === null ? null : null;',
      bug: 'a delayed body outlives a new rule for models',
      tests: ['dataplane/src/call/delayed-body.test.ts'],
    },
    {
      file: 'dataplane/src/call/stages/admit.ts',
      find: `admission.outcome === 'unchecked' && limits.rejectsUnchecked`,
      put: `admission.outcome === 'unchecked' && !limits.rejectsUnchecked`,
      bug: 'during an outage allowed calls are rejected and others pass',
      tests: ['dataplane/src/call/proxy-lifetime.test.ts'],
    },
    {
      file: 'dataplane/src/call/stages/admit.ts',
      find: `    if (admission.outcome === 'admitted') exchange.admission.reservedNanos = admission.reservationNanos;`,
      put: `    exchange.admission.reservedNanos = admission.reservationNanos;`,
      bug: 'a rejected call releases a reservation it never had',
      tests: ['dataplane/src/reservation/release-reservation.test.ts'],
    },
    {
      file: 'dataplane/src/call/stages/admit.ts',
      find: `        releaseReservation(counters, exchange);
`,
      put: '',
      bug: 'the reservation of a client that disconnects during admission is kept',
      tests: ['dataplane/src/reservation/release-reservation.test.ts'],
    },
    {
      file: 'dataplane/src/call/stages/admit.ts',
      find: `context.agentLimits.hardBudget ? computeReservation(exchange, metering) : 0;`,
      put: '0;',
      bug: 'a hard budget reserves nothing',
      tests: ['dataplane/src/reservation/release-reservation.test.ts'],
    },
    {
      file: 'dataplane/src/call/stages/admit.ts',
      find: `    if (rejection !== null) {
`,
      put: `    if (rejection !== null && admission.rejectedByRow !== 1) {
`,
      bug: 'the limit of the day rejects no call',
      tests: ['dataplane/src/call/stage-order.test.ts'],
    },
    {
      file: 'dataplane/src/call/stages/forward.ts',
      find: `    if (exchange.access.revoked) {
`,
      put: `    if (exchange.access.revoked && exchange.access.needsRecheck) {
`,
      bug: 'a revocation between admission and dispatch is missed',
      tests: ['dataplane/src/call/revocation.test.ts'],
    },
    {
      file: 'dataplane/src/call/stages/forward.ts',
      find: `      connection.release();
`,
      put: '',
      bug: 'the connection of a call that could not begin is never released',
      tests: ['dataplane/src/call/proxy-failures.test.ts'],
    },
    {
      file: 'dataplane/src/call/stages/forward.ts',
      find: `    try {
      const held`,
      put: `    exchange.advanceTo(Phase.FORWARDED);
    try {
      const held`,
      bug: 'a call that could not begin is recorded',
      tests: ['dataplane/src/call/proxy-failures.test.ts'],
    },
    {
      file: 'dataplane/src/call/stages/forward.ts',
      find: `upstream.isTenantAddress ? context.orgId : null;`,
      put: 'null;',
      bug: 'a tenant-supplied URL is connected without the egress guard',
      tests: ['dataplane/src/call/proxy-failures.test.ts'],
    },
    {
      file: 'dataplane/src/call/stages/forward.ts',
      find: `    if (!exchange.isFinished) exchange.advanceTo(Phase.FORWARDED);
`,
      put: '',
      bug: 'a forwarded call is not recorded',
      tests: ['dataplane/src/call/proxy-failures.test.ts'],
    },
    {
      file: 'dataplane/src/rejection/limit-rejection.ts',
      find: `const RETRY_AFTER_SEC_MAX = 60;`,
      put: `const RETRY_AFTER_SEC_MAX = 86_400;`,
      bug: 'an SDK sleeps for a day',
      tests: ['dataplane/src/rejection/limit-rejection.test.ts'],
    },
    {
      file: 'dataplane/src/rejection/limit-rejection.ts',
      find: `  if (row.window === 'minute')
    headers`,
      put: `  if (row.unit !== 'cents') headers`,
      bug: 'a rejection by the day limit has Retry-After',
      tests: ['dataplane/src/rejection/limit-rejection.test.ts'],
    },
    {
      file: 'dataplane/src/rejection/limit-rejection.ts',
      find: `spentNanos + holdNanos > budgetNanos ? 'spent'`,
      put: `spentNanos + holdNanos >= budgetNanos ? 'spent'`,
      bug: 'a reservation blocked by others is reported as one that never fits',
      tests: ['dataplane/src/rejection/limit-rejection.test.ts'],
    },
    {
      file: 'base/src/limits.ts',
      find: `  scope === 'project' || scope === 'org' ?`,
      put: `  scope === 'project' ?`,
      bug: "a rejection by the organization's budget counts as the agent's",
      tests: ['dataplane/src/rejection/limit-rejection.test.ts'],
    },
    {
      file: 'dataplane/src/rejection/precheck-limits.ts',
      find: 'spend.spentNanos >= limit',
      put: 'spend.spentNanos > limit',
      bug: 'a call without budget uploads its body first',
      tests: ['dataplane/src/call/delayed-body.test.ts'],
    },
    {
      file: 'dataplane/src/rejection/precheck-limits.ts',
      find: `const full = windows[0]?.rejection ?? null;`,
      put: `const full = windows[1]?.rejection ?? null;`,
      bug: 'a call over its rate uploads its body first',
      tests: ['dataplane/src/call/delayed-body.test.ts'],
    },
    {
      file: 'dataplane/src/rejection/precheck-limits.ts',
      find: `createPrecheckRejection(full.row, full.retryAtSec,`,
      put: `createPrecheckRejection(full.row, windows[0]!.resetAtSec[full.row] ?? 0,`,
      bug: 'the precheck reports another retry time than admission',
      tests: ['test/src/limits/memory-counters.test.ts'],
    },
    {
      file: 'dataplane/src/pipelines/proxy-pipeline.ts',
      find: `        checkCallPolicy,
        planReservationStage,
        createAcquireSlotStage(acquireOrgSlot),
        createBreakerPrecheckStage(breakers),
`,
      put: `        createAcquireSlotStage(acquireOrgSlot),
        checkCallPolicy,
        planReservationStage,
        createBreakerPrecheckStage(breakers),
`,
      bug: 'a call rejected by the policy takes a slot first',
      tests: ['dataplane/src/call/stage-order.test.ts'],
    },
    {
      file: 'dataplane/src/pipelines/proxy-pipeline.ts',
      find: `        checkBodyModels,
        createBreakerStage(breakers, advance),
        createRecheckAccessStage(contexts, advance),
        createAdmitStage(counters, metering, advance),
`,
      put: `        createBreakerStage(breakers, advance),
        createRecheckAccessStage(contexts, advance),
        createAdmitStage(counters, metering, advance),
        checkBodyModels,
`,
      bug: 'a call that the policy rejects counts against the limits',
      tests: ['dataplane/src/call/stage-order.test.ts'],
    },
    {
      file: 'dataplane/src/pipelines/proxy-pipeline.ts',
      find: `        createBreakerStage(breakers, advance),
        createRecheckAccessStage(contexts, advance),
        createAdmitStage(counters, metering, advance),
`,
      put: `        createRecheckAccessStage(contexts, advance),
        createAdmitStage(counters, metering, advance),
        createBreakerStage(breakers, advance),
`,
      bug: 'a call to an open breaker counts against the limits',
      tests: ['dataplane/src/call/delayed-body.test.ts'],
    },
    {
      file: 'dataplane/src/pipelines/proxy-pipeline.ts',
      find: `        createRecheckAccessStage(contexts, advance),
        createAdmitStage(counters, metering, advance),
`,
      put: `        createAdmitStage(counters, metering, advance),
        createRecheckAccessStage(contexts, advance),
`,
      bug: 'a revoked call counts against the limits',
      tests: ['dataplane/src/call/delayed-body.test.ts'],
    },
    {
      file: 'dataplane/src/pipelines/self-pipeline.ts',
      find: `onAuthenticated,
          allowsInactiveAgents: true,
        })`,
      put: `onAuthenticated, allowsInactiveAgents: false })`,
      bug: 'a paused agent cannot read its limits',
      tests: ['dataplane/src/call/proxy-requests.test.ts'],
    },
    {
      file: 'dataplane/src/pipelines/websocket-pipeline.ts',
      find: `        createAcquireSlotStage(acquireOrgSlot),
`,
      put: '',
      bug: 'WebSockets take no slot of the organization',
      tests: ['dataplane/src/websocket'],
    },
    {
      file: 'dataplane/src/pipelines/websocket-pipeline.ts',
      find: `        createAcquireSlotStage(acquireWebSocketSlot),
`,
      put: '',
      bug: 'WebSockets take no slot of the agent',
      tests: ['dataplane/src/websocket'],
    },
    {
      file: 'dataplane/src/pipelines/websocket-pipeline.ts',
      find: `        createRecheckAccessStage(contexts, advance),
`,
      put: '',
      bug: 'a revocation while a WebSocket waits for a probe slot is missed',
      tests: ['dataplane/src/websocket'],
    },
    ...CALL_COMPLETION,
    ...RELAY,
    ...CONTEXTS,
  ],
};

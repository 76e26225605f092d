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
      bug: 'a key whose time is over works on from the cache',
      tests: ['dataplane/src/call/proxy-requests.test.ts'],
    },
    {
      file: 'dataplane/src/call/stages/authenticate.ts',
      find: `if (anyStatus || context.agentStatus === 'active') return null;`,
      put: `if (anyStatus || context.agentStatus !== 'revoked') return null;`,
      bug: 'a paused agent calls on',
      tests: ['dataplane/src/call/stage-order.test.ts'],
    },
    {
      file: 'dataplane/src/call/stages/authenticate.ts',
      find: `if (anyStatus || context.agentStatus === 'active') return null;`,
      put: `if (anyStatus || context.agentStatus !== 'paused') return null;`,
      bug: 'a revoked agent calls on',
      tests: ['dataplane/src/call/proxy-requests.test.ts'],
    },
    {
      file: 'dataplane/src/call/stages/authenticate.ts',
      find: `    if (typeof bucket === 'number') {`,
      put: `    if (typeof bucket === 'string') {`,
      bug: 'made-up tokens are asked about without end',
      tests: ['dataplane/src/call/proxy-requests.test.ts'],
    },
    {
      file: 'dataplane/src/call/stages/authenticate.ts',
      find: `      deps.unauthenticatedLimiter.finishLookup(bucket, found.rejection === 'unknown_token');
`,
      put: '',
      bug: 'questions about tokens never end, and their address is shut out',
      tests: ['dataplane/src/call/proxy-requests.test.ts'],
    },
    {
      file: 'dataplane/src/call/stages/authenticate.ts',
      find: `found.rejection === 'unknown_token');`,
      put: `found.rejection !== null);`,
      bug: 'a control plane that is away counts as made-up tokens',
      tests: ['dataplane/src/call/proxy-requests.test.ts'],
    },
    {
      file: 'dataplane/src/call/stages/authenticate.ts',
      find: `    exchange.access.agentRef = readAgentHeader(headers);
`,
      put: '',
      bug: 'the agent that a request names is not asked for',
      tests: ['dataplane/src/call/proxy-requests.test.ts'],
    },
    {
      file: 'dataplane/src/call/stages/authenticate.ts',
      find: '    if (position === null || position === CONFLICTING_TOKENS) {',
      put: '    if (position === null) {',
      bug: 'of two different tokens some one is taken',
      tests: ['dataplane/src/call/proxy-requests.test.ts'],
    },
    {
      file: 'dataplane/src/call/stages/route.ts',
      find: `  if (upstream.accountStatus !== 'active') return REJECTIONS.needsCredentials;
`,
      put: '',
      bug: 'an account whose credentials were refused is called with',
      tests: ['dataplane/src/call/stage-order.test.ts'],
    },
    {
      file: 'dataplane/src/call/stages/route.ts',
      find: 'context.unassignedProviders.has(slug) ? REJECTIONS.notAssigned : REJECTIONS.unknownProvider',
      put: 'REJECTIONS.unknownProvider',
      bug: 'a provider that is not assigned is said not to exist',
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
      bug: 'a presigned URL without an end never ends',
      tests: ['test/src/sdk/s3.test.ts'],
    },
    {
      file: 'dataplane/src/call/stages/route.ts',
      find: 'endMs !== null && exchange.request.startedAtMs < endMs',
      put: 'endMs !== null',
      bug: 'a presigned URL works after its end',
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
      bug: 'calls that the policy does not name pass',
      tests: ['dataplane/src/call/check-call-policy.test.ts'],
    },
    {
      file: 'dataplane/src/call/stages/check-call-policy.ts',
      find: `  if (place === 'unknown' || exchange.handshake !== null) return createCallForbiddenRejection(exchange);`,
      put: `  if (place === 'unknown') return createCallForbiddenRejection(exchange);`,
      bug: 'a WebSocket names models that nobody reads',
      tests: ['dataplane/src/websocket/websocket.test.ts'],
    },
    {
      file: 'dataplane/src/call/stages/check-call-policy.ts',
      find: `  if (place === 'unknown' || exchange.handshake !== null) return createCallForbiddenRejection(exchange);`,
      put: `  if (exchange.handshake !== null) return createCallForbiddenRejection(exchange);`,
      bug: 'a call that nobody knows passes a rule for models',
      equivalent: 'what is left behind the known places is refused: no path holds its model',
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
      bug: 'several answers hold as much as one',
      tests: [
        'dataplane/src/reservation/compute-reservation.test.ts',
        'dataplane/src/reservation/reserved-stream.test.ts',
      ],
    },
    {
      file: 'dataplane/src/reservation/compute-reservation.ts',
      find: 'tokensIn: facts.textTokens,',
      put: 'tokensIn: 0,',
      bug: 'what a call says is not held',
      tests: [
        'dataplane/src/reservation/compute-reservation.test.ts',
        'dataplane/src/reservation/reserved-stream.test.ts',
      ],
    },
    {
      file: 'dataplane/src/reservation/compute-reservation.ts',
      find: `  if (facts === 'invalid') return REJECTIONS.invalidOutputMaximum;`,
      put: `  if (facts === 'invalid') return 0;`,
      bug: 'a maximum that is given twice holds nothing',
      tests: [
        'dataplane/src/reservation/compute-reservation.test.ts',
        'dataplane/src/reservation/reserved-stream.test.ts',
      ],
    },
    {
      file: 'dataplane/src/reservation/compute-reservation.ts',
      find: `...CALL_WITHOUT_MODEL, units: 100`,
      put: `...CALL_WITHOUT_MODEL, units: 1`,
      bug: 'a batch of e-mails holds as much as one',
      tests: ['dataplane/src/reservation/compute-reservation.test.ts'],
    },
    {
      file: 'dataplane/src/call/stages/acquire-slot.ts',
      find: '    if (rejection === null) return NEXT;',
      put: '    if (rejection === null || exchange.admission.slot === null) return NEXT;',
      bug: 'one organization takes all places',
      tests: ['dataplane/src/call/stage-order.test.ts'],
    },
    {
      file: 'dataplane/src/call/stages/check-breaker.ts',
      find: `    if (circuit?.state !== 'OPEN') return NEXT;`,
      put: `    if (circuit?.state !== 'CLOSED') return NEXT;`,
      bug: 'an open circuit is said after the body was sent',
      tests: ['dataplane/src/call/delayed-body.test.ts'],
    },
    {
      file: 'dataplane/src/call/stages/check-breaker.ts',
      find: `    if (circuit.state === 'OPEN') {
`,
      put: `    if (circuit.state === 'OPEN' && circuit.openUntilMs < 0) {
`,
      bug: 'a circuit that opened while the body came is called through',
      tests: ['dataplane/src/call/delayed-body.test.ts'],
    },
    {
      file: 'dataplane/src/call/stages/check-breaker.ts',
      find: `        breakers.releaseProbe(circuitKey, lease); // The agent disconnected meanwhile.
`,
      put: '',
      bug: 'a probe is not given back when the agent left while it waited',
      tests: ['dataplane/src/call/proxy-requests.test.ts'],
    },
    {
      file: 'dataplane/src/call/stages/check-breaker.ts',
      find: `    exchange.access.needsRecheck = true;
`,
      put: '',
      bug: 'a revocation while a probe place is awaited is missed',
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
      bug: 'who gets no probe place is let through',
      tests: ['dataplane/src/call/delayed-body.test.ts', 'dataplane/src/call/proxy-requests.test.ts'],
    },
    {
      file: 'dataplane/src/call/stages/buffer-body.ts',
      find: `    exchange.access.needsRecheck = true;
`,
      put: '',
      bug: 'a revocation while the body is awaited is missed',
      tests: ['dataplane/src/call/delayed-body.test.ts'],
    },
    {
      file: 'dataplane/src/call/stages/buffer-body.ts',
      find: `    if (exchange.admission.bodyReader !== null && contentLength > deps.readBodyBytesMax) {`,
      put: `    if (exchange.admission.bodyReader !== null && contentLength < 0) {`,
      bug: 'a body that is too long to be read is taken in first',
      tests: ['dataplane/src/call/check-call-policy.test.ts'],
    },
    {
      file: 'dataplane/src/call/stages/buffer-body.ts',
      find: '  const tooLarge = body.bytes > readBodyBytesMax;',
      put: '  const tooLarge = false;',
      bug: 'a chunked body that is too long to be read says that there is no room',
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
      bug: 'what is over its limit uploads its body first',
      tests: ['dataplane/src/call/delayed-body.test.ts'],
    },
    {
      file: 'dataplane/src/call/stages/buffer-body.ts',
      find: `  if (!body.isComplete || exchange.admission.bodyReader !== null) startBuffering`,
      put: `  if (!body.isComplete) startBuffering`,
      bug: 'a body that is here at once is not read',
      tests: ['dataplane/src/call/check-call-policy.test.ts'],
    },
    {
      file: 'dataplane/src/call/stages/recheck-access.ts',
      find: `    if (!exchange.access.needsRecheck) return NEXT;
`,
      put: `    if (!exchange.access.needsRecheck || exchange.access.tokenHash !== '') return NEXT;
`,
      bug: 'a revocation is outlived by holding back the body',
      tests: ['dataplane/src/call/delayed-body.test.ts'],
    },
    {
      file: 'dataplane/src/call/stages/recheck-access.ts',
      find: `checkLookup(exchange, lookup, Date.now());`,
      put: `checkLookup(exchange, lookup, exchange.request.startedAtMs);`,
      bug: `a key's end is outlived by holding back the body`,
      tests: ['dataplane/src/call/delayed-body.test.ts'],
    },
    {
      file: 'dataplane/src/call/stages/recheck-access.ts',
      find: `  const denied = rules === null ? null : checkCallRules(exchange, rules);`,
      put: '  const denied = null;',
      bug: `a policy's change is outlived by holding back the body`,
      tests: ['dataplane/src/call/delayed-body.test.ts'],
    },
    {
      file: 'dataplane/src/call/stages/recheck-access.ts',
      find: `    exchange.access.revoked = false;
`,
      put: '',
      bug: 'a change that takes nothing away refuses the call',
      tests: ['dataplane/src/call/delayed-body.test.ts'],
    },
    {
      file: 'dataplane/src/call/stages/recheck-access.ts',
      find: "if (now.origin !== upstream.origin || exchange.admission.probeLease !== '')",
      put: "if (exchange.admission.probeLease !== '')",
      bug: 'a call goes to an origin whose circuit was not asked',
      tests: ['dataplane/src/call/delayed-body.test.ts'],
    },
    {
      file: 'dataplane/src/call/stages/recheck-access.ts',
      find: `exchange.admission.bodyModels === null
    ? REJECTIONS.contextsUnavailable
    : null;`,
      put: 'exchange.admission.bodyModels === null ? null : null;',
      bug: 'a new rule for models is outlived by holding back the body',
      tests: ['dataplane/src/call/delayed-body.test.ts'],
    },
    {
      file: 'dataplane/src/call/stages/admit.ts',
      find: `admission.outcome === 'unchecked' && limits.rejectsUnchecked`,
      put: `admission.outcome === 'unchecked' && !limits.rejectsUnchecked`,
      bug: 'without the store calls are refused that may pass, and others pass',
      tests: ['dataplane/src/call/proxy-lifetime.test.ts'],
    },
    {
      file: 'dataplane/src/call/stages/admit.ts',
      find: `    if (admission.outcome === 'admitted') exchange.admission.reservedNanos = admission.reservationNanos;`,
      put: `    exchange.admission.reservedNanos = admission.reservationNanos;`,
      bug: 'a refused call gives back what it never held',
      tests: ['dataplane/src/reservation/release-reservation.test.ts'],
    },
    {
      file: 'dataplane/src/call/stages/admit.ts',
      find: `        releaseReservation(counters, exchange);
`,
      put: '',
      bug: 'the hold of an agent that left while the store was asked is kept',
      tests: ['dataplane/src/reservation/release-reservation.test.ts'],
    },
    {
      file: 'dataplane/src/call/stages/admit.ts',
      find: `context.agentLimits.hardBudget ? computeReservation(exchange, metering) : 0;`,
      put: '0;',
      bug: 'a hard budget holds nothing',
      tests: ['dataplane/src/reservation/release-reservation.test.ts'],
    },
    {
      file: 'dataplane/src/call/stages/admit.ts',
      find: `    if (rejection !== null) {
`,
      put: `    if (rejection !== null && admission.rejectedByRow !== 1) {
`,
      bug: 'the limit of the day refuses nobody',
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
      bug: 'the connection of a call that could not begin is never free again',
      tests: ['dataplane/src/call/proxy-failures.test.ts'],
    },
    {
      file: 'dataplane/src/call/stages/forward.ts',
      find: `    try {
      const held`,
      put: `    exchange.advanceTo(Phase.FORWARDED);
    try {
      const held`,
      bug: 'a call that could not begin is booked',
      tests: ['dataplane/src/call/proxy-failures.test.ts'],
    },
    {
      file: 'dataplane/src/call/stages/forward.ts',
      find: `upstream.isTenantAddress ? context.orgId : null;`,
      put: 'null;',
      bug: 'an address that a tenant gave is dialled unguarded',
      tests: ['dataplane/src/call/proxy-failures.test.ts'],
    },
    {
      file: 'dataplane/src/call/stages/forward.ts',
      find: `    if (!exchange.isFinished) exchange.advanceTo(Phase.FORWARDED);
`,
      put: '',
      bug: 'a call that went upstream is not booked',
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
      bug: 'the limit of a day tells SDKs to wait',
      tests: ['dataplane/src/rejection/limit-rejection.test.ts'],
    },
    {
      file: 'dataplane/src/rejection/limit-rejection.ts',
      find: `spentNanos + holdNanos > budgetNanos ? 'spent'`,
      put: `spentNanos + holdNanos >= budgetNanos ? 'spent'`,
      bug: 'a hold that others stand in the way of is said to be hopeless',
      tests: ['dataplane/src/rejection/limit-rejection.test.ts'],
    },
    {
      file: 'base/src/limits.ts',
      find: `  scope === 'project' || scope === 'org' ?`,
      put: `  scope === 'project' ?`,
      bug: `a refusal by the organization's budget is tallied as the agent's`,
      tests: ['dataplane/src/rejection/limit-rejection.test.ts'],
    },
    {
      file: 'dataplane/src/rejection/precheck-limits.ts',
      find: 'spend.spentNanos >= limit',
      put: 'spend.spentNanos > limit',
      bug: 'what has spent its budget uploads its body first',
      tests: ['dataplane/src/call/delayed-body.test.ts'],
    },
    {
      file: 'dataplane/src/rejection/precheck-limits.ts',
      find: `const full = windows[0]?.rejection ?? null;`,
      put: `const full = windows[1]?.rejection ?? null;`,
      bug: 'what is over its rate uploads its body first',
      tests: ['dataplane/src/call/delayed-body.test.ts'],
    },
    {
      file: 'dataplane/src/rejection/precheck-limits.ts',
      find: `createPrecheckRejection(full.row, full.retryAtSec,`,
      put: `createPrecheckRejection(full.row, windows[0]!.resetAtSec[full.row] ?? 0,`,
      bug: 'the first look says another moment than admission',
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
      bug: 'a call that the policy refuses takes a place first',
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
      bug: 'a call that the policy refuses counts against the limits',
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
      bug: 'a call to an open circuit counts against the limits',
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
      bug: 'a paused agent cannot ask how it stands',
      tests: ['dataplane/src/call/proxy-requests.test.ts'],
    },
    {
      file: 'dataplane/src/pipelines/websocket-pipeline.ts',
      find: `        createAcquireSlotStage(acquireOrgSlot),
`,
      put: '',
      bug: 'WebSockets take no share',
      tests: ['dataplane/src/websocket'],
    },
    {
      file: 'dataplane/src/pipelines/websocket-pipeline.ts',
      find: `        createAcquireSlotStage(acquireWebSocketSlot),
`,
      put: '',
      bug: 'WebSockets take no place of theirs',
      tests: ['dataplane/src/websocket'],
    },
    {
      file: 'dataplane/src/pipelines/websocket-pipeline.ts',
      find: `        createRecheckAccessStage(contexts, advance),
`,
      put: '',
      bug: 'a revocation while a probe place for a WebSocket is awaited is missed',
      tests: ['dataplane/src/websocket'],
    },
    ...CALL_COMPLETION,
    ...RELAY,
    ...CONTEXTS,
  ],
};

/** Resolves the request target to the agent's provider account. */

import { normalizeLeniently } from '@acg/base/policy/split-path-strictly-or-leniently';
import type { AgentContext, Upstream } from '../../context/agent-context.js';
import { selectUsageVariant } from '../../policy/usage-format-by-call.js';
import { REJECTIONS, type Rejection } from '../../rejection/rejections.js';
import { parsePresignedExpiryMs, planObjectRequest } from '../../s3/plan-object-request.js';
import { mustHashBody } from '../../s3/sigv4.js';
import { containsGatewayToken, removePathToken } from '../../upstream/credentials/find-gateway-token.js';
import { filterRequestHeaders } from '../../upstream/filter-request-headers.js';
import { isRequestLoop } from '../../upstream/loop-detection.js';
import { isPathAllowed, type ProxyTarget, parseProxyRequestTarget } from '../../upstream/parse-proxy-request-target.js';
import { type Exchange, Phase, type RouteResult } from '../exchange.js';
import { DONE, NEXT, type Stage } from '../pipeline.js';

/** Parses the target before authentication, so that an invalid target costs no lookup. */
export const parseRequestTarget: Stage = (exchange) => {
  const { rawPath, query } = exchange.request;
  const target = parseProxyRequestTarget(query === null ? rawPath : `${rawPath}?${query}`);
  if (typeof target === 'string') {
    exchange.reject(target === 'not_proxy' ? REJECTIONS.notFound : REJECTIONS.malformedTarget);
    return DONE;
  }
  exchange.access.target = target;
  return NEXT;
};

export const route: Stage = (exchange) => {
  const rejection = routeAndCheckUpstream(exchange);
  if (rejection === null) return NEXT;
  exchange.reject(rejection);
  return DONE;
};

/** Sets `routed`; null: found. Runs again when a newer context was loaded. */
export function routeAndCheckUpstream(exchange: Exchange): Rejection | null {
  const context = exchange.access.context!;
  const position = exchange.access.tokenPosition!;
  const { slug, proxyName, shape } = exchange.access.target!;
  const found = proxyName === slug ? context.upstreams.get(slug) : context.namedOrigins.get(proxyName);
  if (found === undefined) return rejectUnknown(context, slug);
  const target = withoutPathToken(exchange.access.target!, found, position.gatewayToken);
  if (target === null) return position.form === 'path' ? REJECTIONS.unauthorized : REJECTIONS.tokenInPath;
  const upstream =
    found.usageRules === null ? found : selectUsageVariant(found, exchange.request.method, target.providerPath);
  const routed: RouteResult = { context, target, upstream, tokenPosition: position };
  exchange.routed = routed;
  if (exchange.phase < Phase.ROUTED) exchange.advanceTo(Phase.ROUTED);
  if (upstream.isTenantAddress && isRequestLoop(exchange.request.headers, upstream.accountId))
    return REJECTIONS.loopDetected;
  if (upstream.accountStatus !== 'active') return REJECTIONS.needsCredentials;
  const { injection } = upstream;
  const objectKeys = injection.kind === 'sigv4' && injection.isObjectStorage;
  if (objectKeys && position.form === 'presigned' && !isPresignedUrlUnexpired(exchange, target))
    return REJECTIONS.presignedUrlExpired;
  if (!isPathAllowed(shape, objectKeys, upstream.basePath)) return REJECTIONS.malformedTarget;
  if (injection.kind === 'sigv4')
    exchange.admission.needsWholeBody = !objectKeys && mustHashBody(exchange.request.headers);
  return objectKeys ? planObjectStorageRequest(exchange, routed) : null;
}

function rejectUnknown(context: AgentContext, slug: string): Rejection {
  if (context.upstreams.has(slug)) return REJECTIONS.unknownOrigin;
  const exists = context.unassignedProviders.has(slug) || context.builtInProviders.has(slug);
  return exists ? REJECTIONS.notAssigned : REJECTIONS.unknownProvider;
}

/** The target as the provider may see it; null: its path holds a gateway token where the account injects none. */
function withoutPathToken(target: ProxyTarget, { injection }: Upstream, gatewayToken: string): ProxyTarget | null {
  const { providerPath } = target;
  if (providerPath.length < TOKEN_LENGTH || !holdsGatewayToken(providerPath)) return target;
  const kept =
    injection.pathPrefix === null ? providerPath : removePathToken(providerPath, injection.pathPrefix, gatewayToken);
  if (holdsGatewayToken(kept)) return null;
  return kept === providerPath ? target : { ...target, providerPath: kept };
}

const TOKEN_LENGTH = 68;
const holdsGatewayToken = (path: string): boolean =>
  containsGatewayToken(path) || (path.includes('%') && containsGatewayToken(normalizeLeniently(path)));

function planObjectStorageRequest(
  exchange: Exchange,
  { target, upstream, tokenPosition: position }: RouteResult,
): Rejection | null {
  if (!isValidUtf8Path(target.providerPath)) return REJECTIONS.malformedTarget; // It cannot be signed.
  const headers = filterRequestHeaders(exchange.request.headers, upstream.injection);
  const plan = planObjectRequest(headers, target.query, position, exchange.body !== null);
  if (typeof plan === 'string') return REJECTIONS.requestNotForwardable;
  exchange.admission.objectRequest = plan;
  return null;
}

function isValidUtf8Path(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}

/**
 * True until the expiry that the presigned URL states. Its other signature parameters are not checked; the gateway
 * replaces them.
 */
function isPresignedUrlUnexpired(exchange: Exchange, target: ProxyTarget): boolean {
  const endMs = parsePresignedExpiryMs(target.query ?? '');
  return endMs !== null && exchange.request.startedAtMs < endMs;
}

/** Reads a response's head and decides which headers the agent receives and how the body is edited on its way. */

import type { CallMetering } from '../call/call-metering-interface.js';
import type { RoutedExchange } from '../call/exchange.js';
import type { BodyEdit, ResponsePlan } from '../call/response-plan-types.js';
import type { Injection, Upstream } from '../context/agent-context.js';
import { LINE_STREAM_TYPES } from '../scan/sse-splitter.js';
import { filterResponseHead, type ResponseHead } from '../upstream/filter-response-head.js';
import {
  BodyMasker,
  type CredentialMaskPatterns,
  compileMaskPatterns,
  maskHeaderValue,
} from '../upstream/masking/credential-mask.js';
import {
  createAnthropicBatchUrlRewriter,
  type RewrittenOrigin,
  rewriteUrlHeader,
} from '../upstream/response-url-rewrite.js';
import type { GatewayUrlResolver } from './gateway-url.js';
import { NO_MCP_PLAN, planMcpAnswer } from './plan-mcp-answer.js';

/** Enough to find a provider's throttling code in an error body (docs/contract.md#circuits). */
const FAILURE_BODY_PREFIX_BYTES = 4096;
const STREAMED_MEDIA_TYPES: ReadonlySet<string> = new Set([
  'text/event-stream',
  ...LINE_STREAM_TYPES,
  'application/vnd.amazon.eventstream',
]);

/** Compiled once per account and context, and garbage-collected with it. */
const maskFormsByInjection = new WeakMap<Injection, CredentialMaskPatterns>();

/** The forms in which an upstream's credential is sent. */
export function getMaskForms({ injection }: Upstream): CredentialMaskPatterns {
  let forms = maskFormsByInjection.get(injection);
  if (forms === undefined) {
    forms = compileMaskPatterns(injection.secretForms);
    maskFormsByInjection.set(injection, forms);
  }
  return forms;
}

function createBodyMask(upstream: Upstream): BodyMasker | null {
  const forms = getMaskForms(upstream);
  return forms.patterns.length === 0 ? null : new BodyMasker(forms);
}

export function planResponse(
  exchange: RoutedExchange,
  status: number,
  rawHeaders: readonly string[],
  metering: Pick<CallMetering, 'createMeterAndBodyEdit'>,
  gatewayUrl: Pick<GatewayUrlResolver, 'resolve'>,
): ResponsePlan {
  const { target, upstream } = exchange.routed;
  const head = filterResponseHead(rawHeaders, getMaskForms(upstream));
  if (head.urlHeaderIndexes !== null)
    rewriteUrlHeaders(head, head.urlHeaderIndexes, listOrigins(exchange), () => gatewayUrl.resolve(exchange));
  exchange.response.streamed = STREAMED_MEDIA_TYPES.has(head.mediaType);
  const mcp =
    upstream.usageFormat === 'mcp'
      ? planMcpAnswer(exchange, status, head, () => gatewayUrl.resolve(exchange))
      : NO_MCP_PLAN;
  const exempt = upstream.failureExemptMarker !== null && upstream.failureStatuses.has(status);
  const edits: BodyEdit[] = [];
  let lengthChanges = false;
  const usageEdit = metering.createMeterAndBodyEdit(exchange, head);
  if (usageEdit !== null) edits.push(usageEdit);
  if (mcp.edit !== null) edits.push(mcp.edit);
  const rewrite = createAnthropicBatchUrlRewriter(
    upstream,
    target.providerPath,
    head.mediaType,
    head.contentEncoding,
    () => gatewayUrl.resolve(exchange),
  );
  if (rewrite !== null) edits.push(rewrite);
  lengthChanges = edits.length > 0;
  return {
    head,
    edits: edits.length === 0 ? null : edits,
    changesLength: lengthChanges,
    // Applied whatever content-encoding the response claims, because the claim may be false. The length stays the same.
    mask: createBodyMask(upstream),
    failureBodyPrefixBytes: exempt ? FAILURE_BODY_PREFIX_BYTES : 0,
    rejection: mcp.rejection,
    firstBytes: mcp.firstBytes,
  };
}

/** A value that is not plain ASCII stays unchanged: it is no valid URL. */
function rewriteUrlHeaders(
  { headers }: ResponseHead,
  indexes: readonly number[],
  origins: readonly RewrittenOrigin[],
  gatewayUrl: () => string,
): void {
  for (const i of indexes) {
    const value = headers[i + 1]!;
    if (typeof value === 'string') headers[i + 1] = rewriteUrlHeader(headers[i] as string, value, origins, gatewayUrl);
  }
}

/** The origins of the called provider, first the one that the call went to. */
function listOrigins({ routed: { context, upstream } }: RoutedExchange): readonly RewrittenOrigin[] {
  const origins = [toRewrittenOrigin(upstream)];
  const add = (other: Upstream | undefined): void => {
    if (other?.providerSlug === upstream.providerSlug && other.proxyName !== upstream.proxyName)
      origins.push(toRewrittenOrigin(other));
  };
  add(context.upstreams.get(upstream.providerSlug));
  for (const other of context.namedOrigins.values()) add(other);
  return origins;
}

/** Header values are masked already, so a base path that holds a credential must be, too. */
const toRewrittenOrigin = (upstream: Upstream): RewrittenOrigin =>
  upstream.injection.pathPrefix === null
    ? upstream
    : { ...upstream, basePath: maskHeaderValue(upstream.basePath, getMaskForms(upstream)) };

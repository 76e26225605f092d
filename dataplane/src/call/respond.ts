/** Reads a response's head: what of it the agent gets, and what is done to the body on its way. */

import type { Upstream } from '../context/agent-context.js';
import { BodyMask, type MaskForms, maskForms } from '../upstream/mask.js';
import { type ResponseHead, readResponseHead } from '../upstream/response-headers.js';
import { bodyRewrite, rewriteLocation } from '../upstream/rewrite.js';
import type { CallMetering } from './call-metering.js';
import type { RoutedExchange } from './exchange.js';
import type { GatewayUrl } from './gateway-url.js';
import type { BodyEdit, ResponsePlan } from './response-plan.js';

/** Enough to find a provider's throttling code in an error body (docs/contract.md#circuits). */
const FAILURE_HEAD_BYTES = 4096;
const STREAMED_MEDIA: ReadonlySet<string> = new Set([
  'text/event-stream',
  'application/stream+json',
  'application/x-ndjson',
  'application/vnd.amazon.eventstream',
]);

/** Made once per context and forgotten with it. */
const formsOf = new WeakMap<Upstream, MaskForms>();

/** The forms in which an upstream's credential leaves. */
export function maskFormsOf(upstream: Upstream): MaskForms {
  let forms = formsOf.get(upstream);
  if (forms === undefined) {
    forms = maskForms(upstream.injection.secretForms);
    formsOf.set(upstream, forms);
  }
  return forms;
}

function maskFor(upstream: Upstream): BodyMask | null {
  const forms = maskFormsOf(upstream);
  return forms.patterns.length === 0 ? null : new BodyMask(forms);
}

export function planResponse(
  x: RoutedExchange,
  status: number,
  rawHeaders: readonly string[],
  metering: Pick<CallMetering, 'response'>,
  gatewayUrl: Pick<GatewayUrl, 'of'>,
): ResponsePlan {
  const { target, upstream } = x.routed;
  const head = readResponseHead(rawHeaders, maskFormsOf(upstream));
  rewriteHeadLocation(head, upstream);
  x.streamed = STREAMED_MEDIA.has(head.mediaType);
  const exempt = upstream.failureExemptMarker !== null && upstream.failureStatuses.has(status);
  const edits: BodyEdit[] = [];
  let lengthChanges = false;
  const usageEdit = metering.response(x, head);
  if (usageEdit !== null) edits.push(usageEdit);
  const rewrite = bodyRewrite(upstream, target.rest, head.mediaType, head.contentEncoding, () => gatewayUrl.of(x));
  if (rewrite !== null) edits.push(rewrite);
  lengthChanges = edits.length > 0;
  return {
    head,
    edits: edits.length === 0 ? null : edits,
    lengthChanges,
    // Whatever content-encoding it claims: it may be as good as none. Same length, so content-length stands.
    mask: maskFor(upstream),
    failureHeadBytes: exempt ? FAILURE_HEAD_BYTES : 0,
  };
}

function rewriteHeadLocation(head: ResponseHead, upstream: Upstream): void {
  if (head.locationAt === -1) return;
  const value = head.headers[head.locationAt]!;
  if (typeof value === 'string') head.headers[head.locationAt] = rewriteLocation(value, upstream);
}

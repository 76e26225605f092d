/** What administrators see of a rejected call (docs/contract.md#usage). Texts of the agent hold no gateway token. */
import { toClientNetworkKey } from '@acg/base/client-network-key';
import type { IRejectedCall } from '@acg/proto/messages';
import type { AgentContext } from '../context/agent-context.js';
import type { Rejection } from '../rejection/rejections.js';
import type { Exchange } from './exchange.js';
import { findCalledTool } from './mcp-call.js';
import { redactAndTruncatePath, redactGatewayTokens } from './redact-gateway-tokens.js';

const MODEL_CHARS_MAX = 200;

/** `clientAddress`: of the client, as a trusted proxy reports it. */
export function describeRejectedCall(
  exchange: Exchange,
  { keyId }: AgentContext,
  rejection: Rejection,
  clientAddress: string,
): IRejectedCall {
  const { access, admission, metering, request } = exchange;
  const model = admission.bodyModels?.[0] ?? metering.requestModel ?? '';
  return {
    id: request.id,
    keyId,
    rejectedAtMs: request.startedAtMs,
    status: rejection.status,
    method: request.method,
    path: redactAndTruncatePath(access.target?.providerPath ?? request.rawPath),
    model: redactGatewayTokens(model).slice(0, MODEL_CHARS_MAX),
    tool: redactGatewayTokens(findCalledTool(exchange.admission.mcp)).slice(0, MODEL_CHARS_MAX),
    clientNetwork: toClientNetworkKey(clientAddress),
  };
}

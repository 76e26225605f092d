/** ResolveToken. */
import type { Logger } from '@acg/base/log';
import type { GatewayHandlers } from '@acg/proto/service';
import { status } from '@grpc/grpc-js';
import { GrpcFault, unary } from '../grpc/handler.js';
import type { ContextService } from './service.js';

const TOKEN_HASH_BYTES = 32;
const AGENT_REF_CHARS_MAX = 128;

export function resolveTokenHandler(contexts: ContextService, log: Logger): GatewayHandlers['resolveToken'] {
  return unary(log, 'ResolveToken', async ({ tokenHash, agentRef }) => {
    if (tokenHash?.length !== TOKEN_HASH_BYTES) {
      throw new GrpcFault(status.INVALID_ARGUMENT, `token_hash must have ${TOKEN_HASH_BYTES} bytes`);
    }
    if ((agentRef?.length ?? 0) > AGENT_REF_CHARS_MAX) {
      throw new GrpcFault(status.INVALID_ARGUMENT, `agent_ref must have at most ${AGENT_REF_CHARS_MAX} characters`);
    }
    return contexts.resolve(tokenHash, agentRef ?? '');
  });
}

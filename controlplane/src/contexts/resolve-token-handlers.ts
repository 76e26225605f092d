/** gRPC handlers of ResolveToken and ResolveTokens. */
import { CELL_NAME } from '@acg/base/cells';
import type { Logger } from '@acg/base/log';
import type { GatewayHandlers } from '@acg/proto/gateway-service';
import type { IResolveTokenRequest, IResolveTokenResponse } from '@acg/proto/messages';
import { status } from '@grpc/grpc-js';
import type { LinkCaller } from '../grpc/link-caller.js';
import { GrpcError, unaryHandler } from '../grpc/unary-handler-and-grpc-errors.js';
import type { TokenQuery } from './agent-context-store.js';
import type { TokenResolutionService } from './token-resolution-service.js';

const TOKEN_HASH_BYTES = 32;
const AGENT_REF_CHARS_MAX = 128;
const TOKENS_MAX = 256;

/** Stores that the caller is given contexts of the organizations; they are sent only afterwards. */
type RecordGrants = (caller: LinkCaller, dataPlaneId: string, orgIds: readonly string[]) => Promise<void>;

export function createResolveHandlers(
  contexts: TokenResolutionService,
  recordGrants: RecordGrants,
  log: Logger,
): Pick<GatewayHandlers, 'resolveToken' | 'resolveTokens'> {
  const resolve = async (
    caller: LinkCaller,
    queries: readonly TokenQuery[],
    { dataPlaneId, budgetRows, cell }: Pick<IResolveTokenRequest, 'dataPlaneId' | 'budgetRows' | 'cell'>,
  ): Promise<IResolveTokenResponse[]> => {
    const answers = await contexts.resolve(queries, budgetRows ?? false, parseCell(cell));
    const orgIds = answers.flatMap(({ context }) => context?.orgId ?? []);
    await recordGrants(caller, dataPlaneId ?? '', orgIds);
    return answers;
  };
  return {
    resolveToken: unaryHandler(log, 'ResolveToken', async (request, caller) => {
      const [response] = await resolve(caller, [parseTokenQuery(request)], request);
      return response!;
    }),
    resolveTokens: unaryHandler(log, 'ResolveTokens', async (request, caller) => {
      const queries = (request.tokens ?? []).map(parseTokenQuery);
      if (queries.length > TOKENS_MAX) {
        throw new GrpcError(status.INVALID_ARGUMENT, `tokens must be at most ${TOKENS_MAX}`);
      }
      return { answers: queries.length === 0 ? [] : await resolve(caller, queries, request) };
    }),
  };
}

function parseCell(cell: string | null | undefined): string {
  if (cell && !CELL_NAME.test(cell)) throw new GrpcError(status.INVALID_ARGUMENT, 'cell must be a name of a cell');
  return cell ?? '';
}

function parseTokenQuery(request: IResolveTokenRequest): TokenQuery {
  const { tokenHash, agentRef, mintAccountId, rejectedGeneration } = request;
  if (tokenHash?.length !== TOKEN_HASH_BYTES) {
    throw new GrpcError(status.INVALID_ARGUMENT, `token_hash must have ${TOKEN_HASH_BYTES} bytes`);
  }
  if ((agentRef?.length ?? 0) > AGENT_REF_CHARS_MAX) {
    throw new GrpcError(status.INVALID_ARGUMENT, `agent_ref must have at most ${AGENT_REF_CHARS_MAX} characters`);
  }
  const query = { tokenHash, agentRef: agentRef ?? '' };
  return mintAccountId ? { ...query, mintAccountId, rejectedGeneration: rejectedGeneration ?? 0 } : query;
}

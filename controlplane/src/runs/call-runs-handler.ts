/**
 * gRPC handler of CallRuns: requests of agents about their runs, which data planes pass on. Responds with the HTTP status
 * and body for the agent.
 */
import type { Logger } from '@acg/base/log';
import { UUID_PATTERN_ANY_CASE } from '@acg/base/uuid-patterns';
import type { GatewayHandlers } from '@acg/proto/gateway-service';
import type { ICallRunsRequest, ICallRunsResponse } from '@acg/proto/messages';
import { status } from '@grpc/grpc-js';
import { AppError, InvalidInput, NotFound, TooManyAttempts } from '../domain/errors.js';
import { GrpcError, unaryHandler } from '../grpc/unary-handler-and-grpc-errors.js';
import { HTTP_STATUS_BY_ERROR_CODE } from '../http/error-statuses.js';
import { findBodyProblem } from '../http/json-body.js';
import { describeSchemaErrors, validatorCompiler } from '../http/request-validation.js';
import { AgentRunInput } from './schema.js';
import type { AgentCaller, RunService } from './service.js';

const TOKEN_HASH_BYTES = 32;
const BODY_CHARS_MAX = 65_536;
const validate = validatorCompiler({ schema: AgentRunInput, method: 'POST', url: '/v1/runs', httpPart: 'body' }) as {
  (value: unknown): value is AgentRunInput;
  errors?: Parameters<typeof describeSchemaErrors>[0] | null;
};

export function createCallRunsHandler(runs: RunService, log: Logger): Pick<GatewayHandlers, 'callRuns'> {
  return {
    callRuns: unaryHandler(log, 'CallRuns', async (request): Promise<ICallRunsResponse> => {
      const caller = parseCaller(request);
      try {
        return await respond(runs, caller, request);
      } catch (error) {
        if (!(error instanceof AppError)) throw error;
        const retry = error instanceof TooManyAttempts ? { retryAfterSeconds: error.retryAfterSeconds } : {};
        const body = JSON.stringify({ error: error.message, message: error.message, ...error.details, ...retry });
        return { status: HTTP_STATUS_BY_ERROR_CODE[error.code], body };
      }
    }),
  };
}

async function respond(runs: RunService, caller: AgentCaller, request: ICallRunsRequest): Promise<ICallRunsResponse> {
  const { method, runId = '', body = '' } = request;
  if (method === 'POST') return json(201, await runs.startByAgent(caller, parseBody(body ?? '')));
  if (!UUID_PATTERN_ANY_CASE.test(runId ?? '')) throw new NotFound('run');
  const id = runId!.toLowerCase();
  return json(200, { run: await (method === 'DELETE' ? runs.endByAgent(caller, id) : runs.getByAgent(caller, id)) });
}

const json = (code: number, value: object): ICallRunsResponse => ({ status: code, body: JSON.stringify(value) });

function parseBody(text: string): AgentRunInput {
  if (text.length > BODY_CHARS_MAX) throw new InvalidInput('the body is longer than 64 KiB');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new InvalidInput('the body must be JSON: {"budgetCents": 250, "expiresIn": 1800}');
  }
  const problem = findBodyProblem(text, value);
  if (problem !== null) throw new InvalidInput(problem);
  if (validate(value)) return value;
  throw new InvalidInput(describeSchemaErrors(validate.errors ?? [], 'body'));
}

function parseCaller({ tokenHash, orgId, agentId, method }: ICallRunsRequest): AgentCaller {
  if (tokenHash?.length !== TOKEN_HASH_BYTES)
    throw new GrpcError(status.INVALID_ARGUMENT, `token_hash must have ${TOKEN_HASH_BYTES} bytes`);
  if (!UUID_PATTERN_ANY_CASE.test(agentId ?? '') || !UUID_PATTERN_ANY_CASE.test(orgId ?? ''))
    throw new GrpcError(status.INVALID_ARGUMENT, 'org_id and agent_id must be UUIDs');
  if (method !== 'GET' && method !== 'POST' && method !== 'DELETE')
    throw new GrpcError(status.INVALID_ARGUMENT, 'method must be GET, POST or DELETE');
  return { tokenHash, orgId: orgId!, agentId: agentId! };
}

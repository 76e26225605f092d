import type { Rejection } from '../rejection/rejections.js';
import type { AgentResponse } from './agent-response-interface.js';

/** Writes status line and headers of a rejection. Must run inside `res.cork`. */
export function writeRejectionHead(res: AgentResponse, requestId: string, rejection: Rejection): void {
  let block = `application/json\r\nx-gateway-request-id: ${requestId}`;
  for (let i = 0; i < rejection.headers.length; i += 2) {
    block += `\r\n${rejection.headers[i]}: ${rejection.headers[i + 1]}`;
  }
  res.writeStatus(rejection.statusLine);
  // One native call for all headers: the server joins name and value unchanged. Every part is the gateway's own.
  res.writeHeader('content-type', block);
}

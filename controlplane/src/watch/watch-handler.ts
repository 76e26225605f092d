/** The Watch RPC: one streaming call per connected data plane. */
import type { Logger } from '@acg/base/log';
import type { GatewayHandlers } from '@acg/proto/gateway-service';
import type { IWatchEvent, IWatchRequest } from '@acg/proto/messages';
import { type ServerWritableStream, status } from '@grpc/grpc-js';
import { type LinkCaller, linkCallerOf } from '../grpc/link-caller.js';
import { GrpcError, toGrpcError } from '../grpc/unary-handler-and-grpc-errors.js';
import { CountersNotSharedError, DataPlaneIdTakenError } from './data-plane-registrations.js';
import type { DataPlaneWatchStreams, WatchRequestIdentity } from './data-plane-watch-streams.js';
import type { EndReason, EventSink, WatchStream } from './watch-stream.js';

type Call = ServerWritableStream<IWatchRequest, IWatchEvent>;

const GRPC_STATUS_BY_END_REASON: Readonly<Record<EndReason, { readonly code: number; readonly details: string }>> = {
  too_slow: { code: status.RESOURCE_EXHAUSTED, details: 'the data plane did not read its events. Reconnect.' },
  replaced: { code: status.ABORTED, details: 'the same data plane has connected again and replaced this stream' },
  history_lost: {
    code: status.ABORTED,
    details: 'the database lost committed changes. Reconnect with an empty context cache.',
  },
  revoked: { code: status.UNAUTHENTICATED, details: 'the identity of this data plane was revoked' },
  shutting_down: { code: status.UNAVAILABLE, details: 'this control plane is shutting down' },
};

export function createWatchHandler(hub: DataPlaneWatchStreams, log: Logger): GatewayHandlers['watch'] {
  return (call) => {
    let watcher: WatchStream | null = null;
    let isCancelled = false;
    call.on('error', () => undefined); // a write after the client left; `cancelled` handles it
    call.on('cancelled', () => {
      isCancelled = true;
      if (watcher !== null) hub.removeWatcher(watcher);
    });
    const end = (error: { code: number; details: string }): void => {
      if (!isCancelled) call.emit('error', Object.assign(new Error(error.details), error));
    };
    const addWatcher = async (): Promise<void> => {
      watcher = await hub.addWatcher(parseIdentity(call.request, linkCallerOf(call)), createEventSink(call, end));
      if (isCancelled) hub.removeWatcher(watcher);
    };
    addWatcher().catch((error: unknown) => {
      if (error instanceof CountersNotSharedError) {
        log.warn({ dataPlaneId: call.request.dataPlaneId }, error.message);
        end({ code: status.FAILED_PRECONDITION, details: error.message });
      } else if (error instanceof DataPlaneIdTakenError) {
        log.warn({ dataPlaneId: call.request.dataPlaneId }, error.message);
        end({ code: status.ABORTED, details: error.message });
      } else end(toGrpcError(log, 'Watch', error));
    });
  };
}

function createEventSink(call: Call, end: (fault: { code: number; details: string }) => void): EventSink {
  return {
    write: (event) => call.write(event),
    onDrain: (listener) => void call.on('drain', listener),
    end: (reason) => end(GRPC_STATUS_BY_END_REASON[reason]),
  };
}

const ID = /^[A-Za-z0-9._:-]{1,128}$/;

function parseIdentity(request: IWatchRequest, identity: LinkCaller): WatchRequestIdentity {
  const { dataPlaneId, counters, counterLayout, version, lastRevision, lastRevisionMark } = request;
  if (!ID.test(dataPlaneId ?? '')) throw new GrpcError(status.INVALID_ARGUMENT, 'data_plane_id is missing or invalid');
  if (counters !== 'memory' && counters !== 'redis') {
    throw new GrpcError(status.INVALID_ARGUMENT, 'counters must be memory or redis');
  }
  return {
    dataPlaneId: dataPlaneId!,
    identity,
    counters,
    counterLayout: counterLayout || 1,
    version: (version ?? '').slice(0, 64),
    lastRevision: lastRevision ?? 0,
    lastMark: (lastRevisionMark ?? '').slice(0, 64),
  };
}

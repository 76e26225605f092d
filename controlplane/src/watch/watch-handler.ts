/** Watch: one call per connected data plane, for as long as it is connected. */
import type { Logger } from '@acg/base/log';
import type { IWatchEvent, IWatchRequest } from '@acg/proto/messages';
import type { GatewayHandlers } from '@acg/proto/service';
import { type ServerWritableStream, status } from '@grpc/grpc-js';
import { faultOf, GrpcFault } from '../grpc/handler.js';
import { CountersNotShared } from './registrations.js';
import type { WatchHub, WatchIdentity } from './watch-hub.js';
import type { EndReason, EventSink, Watcher } from './watcher.js';

type Call = ServerWritableStream<IWatchRequest, IWatchEvent>;

const ENDS: Readonly<Record<EndReason, { readonly code: number; readonly details: string }>> = {
  too_slow: { code: status.RESOURCE_EXHAUSTED, details: 'events were not read: connect again' },
  replaced: { code: status.ABORTED, details: 'the same data plane has connected again' },
  history_lost: {
    code: status.ABORTED,
    details: 'the database lost committed changes: reconnect with an empty context cache',
  },
  shutting_down: { code: status.UNAVAILABLE, details: 'this control plane is stopping' },
};

export function watchHandler(hub: WatchHub, log: Logger): GatewayHandlers['watch'] {
  return (call) => {
    let watcher: Watcher | null = null;
    let gone = false;
    call.on('error', () => undefined); // a write after the other side left; `cancelled` tells
    call.on('cancelled', () => {
      gone = true;
      if (watcher !== null) hub.leave(watcher);
    });
    const end = (fault: { code: number; details: string }): void => {
      if (!gone) call.emit('error', Object.assign(new Error(fault.details), fault));
    };
    const join = async (): Promise<void> => {
      watcher = await hub.join(parseIdentity(call.request), sinkOf(call, end));
      if (gone) hub.leave(watcher);
    };
    join().catch((error: unknown) => {
      if (error instanceof CountersNotShared) {
        log.warn({ dataPlaneId: call.request.dataPlaneId }, error.message);
        end({ code: status.FAILED_PRECONDITION, details: error.message });
      } else end(faultOf(log, 'Watch', error));
    });
  };
}

function sinkOf(call: Call, end: (fault: { code: number; details: string }) => void): EventSink {
  return {
    write: (event) => call.write(event),
    onDrain: (listener) => void call.on('drain', listener),
    end: (reason) => end(ENDS[reason]),
  };
}

const ID = /^[A-Za-z0-9._:-]{1,128}$/;

function parseIdentity(request: IWatchRequest): WatchIdentity {
  const { dataPlaneId, counters, version, lastRevision, lastRevisionMark } = request;
  if (!ID.test(dataPlaneId ?? '')) throw new GrpcFault(status.INVALID_ARGUMENT, 'data_plane_id is missing or odd');
  if (counters !== 'memory' && counters !== 'redis') {
    throw new GrpcFault(status.INVALID_ARGUMENT, 'counters must be memory or redis');
  }
  return {
    dataPlaneId: dataPlaneId!,
    counters,
    version: (version ?? '').slice(0, 64),
    lastRevision: lastRevision ?? 0,
    lastMark: (lastRevisionMark ?? '').slice(0, 64),
  };
}

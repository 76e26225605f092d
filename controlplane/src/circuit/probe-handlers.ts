/** AcquireProbe and ReleaseProbe of the link between the planes, over circuit/probes.ts. */
import {
  CircuitOutcome,
  type IAcquireProbeRequest,
  type IAcquireProbeResponse,
  type IReleaseProbeRequest,
  type IReleaseProbeResponse,
} from '@acg/proto/messages';
import type { CircuitBoard } from './board.js';
import type { Probes } from './probes.js';

const TEXT_MAX = 512;
const bounded = (text: string | null | undefined): string => (text ?? '').slice(0, TEXT_MAX);

export async function acquireProbe(probes: Probes, request: IAcquireProbeRequest): Promise<IAcquireProbeResponse> {
  const { lease, circuit } = await probes.acquire(
    bounded(request.circuitKey),
    request.epoch ?? 0,
    bounded(request.dataPlaneId),
  );
  return { granted: lease !== null, lease: lease ?? '', state: circuit };
}

export async function releaseProbe(
  probes: Probes,
  board: Pick<CircuitBoard, 'endProbe'>,
  request: IReleaseProbeRequest,
): Promise<IReleaseProbeResponse> {
  const [circuitKey, lease] = [bounded(request.circuitKey), bounded(request.lease)];
  const outcome = request.outcome ?? CircuitOutcome.NEUTRAL;
  if (outcome === CircuitOutcome.NEUTRAL) await probes.release(circuitKey, lease);
  else await board.endProbe({ circuitKey, lease, epoch: request.epoch ?? 0, good: outcome !== CircuitOutcome.FAILURE });
  return {};
}

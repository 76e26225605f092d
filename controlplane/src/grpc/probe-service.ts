/** AcquireProbe and ReleaseProbe of the link between the planes, over circuit/probes.ts. */
import type {
  IAcquireProbeRequest,
  IAcquireProbeResponse,
  IReleaseProbeRequest,
  IReleaseProbeResponse,
} from '@acg/proto/messages';
import type { Probes } from '../circuit/probes.js';

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

export async function releaseProbe(probes: Probes, request: IReleaseProbeRequest): Promise<IReleaseProbeResponse> {
  await probes.release(bounded(request.circuitKey), bounded(request.lease));
  return {};
}

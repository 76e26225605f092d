/** The calls of the link between the planes that are about circuits: probe places, and contacts with origins. */
import {
  CircuitOutcome,
  type IAcquireProbeRequest,
  type IAcquireProbeResponse,
  type IReleaseProbeRequest,
  type IReleaseProbeResponse,
  type IReportContactsRequest,
  type IReportContactsResponse,
} from '@acg/proto/messages';
import type { CircuitBoard } from './board.js';
import type { FleetBreakers } from './fleet.js';
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

/** More origins than built-in providers have; the rest is left out. */
const CONTACTS_MAX = 100;

export async function reportContacts(
  fleet: Pick<FleetBreakers, 'report'>,
  request: IReportContactsRequest,
): Promise<IReportContactsResponse> {
  const contacts = (request.contacts ?? []).slice(0, CONTACTS_MAX).map(({ origin, ageMs, unreachable }) => ({
    origin: bounded(origin),
    ageMs: ageMs ?? 0,
    unreachable: unreachable ?? false,
  }));
  await fleet.report(bounded(request.dataPlaneId), contacts);
  return {};
}

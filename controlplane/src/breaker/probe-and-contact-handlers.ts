/**
 * Breaker RPCs of the link between the planes: acquiring and releasing probe leases, reporting contacts with origins.
 */
import {
  CircuitOutcome,
  type IAcquireProbeRequest,
  type IAcquireProbeResponse,
  type IReleaseProbeRequest,
  type IReleaseProbeResponse,
  type IReportContactsRequest,
  type IReportContactsResponse,
} from '@acg/proto/messages';
import type { FleetBreakers } from './fleet-unreachability-breakers.js';
import type { OrgBreakers } from './org-breakers.js';
import type { ProbeLeases } from './probe-leases.js';

const TEXT_MAX = 512;
const truncate = (text: string | null | undefined): string => (text ?? '').slice(0, TEXT_MAX);

export async function handleAcquireProbe(
  probes: ProbeLeases,
  request: IAcquireProbeRequest,
): Promise<IAcquireProbeResponse> {
  const { lease, circuit } = await probes.acquire(
    truncate(request.circuitKey),
    request.epoch ?? 0,
    truncate(request.dataPlaneId),
  );
  return { granted: lease !== null, lease: lease ?? '', state: circuit };
}

export async function handleReleaseProbe(
  probes: ProbeLeases,
  orgBreakers: Pick<OrgBreakers, 'recordProbeResult'>,
  request: IReleaseProbeRequest,
): Promise<IReleaseProbeResponse> {
  const [circuitKey, lease] = [truncate(request.circuitKey), truncate(request.lease)];
  const outcome = request.outcome ?? CircuitOutcome.NEUTRAL;
  if (outcome === CircuitOutcome.NEUTRAL) await probes.release(circuitKey, lease);
  else
    await orgBreakers.recordProbeResult({
      circuitKey,
      lease,
      epoch: request.epoch ?? 0,
      good: outcome !== CircuitOutcome.FAILURE,
    });
  return {};
}

/** More than the number of built-in origins; further ones are left out. */
const CONTACTS_MAX = 100;

export async function handleReportContacts(
  fleet: Pick<FleetBreakers, 'recordContacts'>,
  request: IReportContactsRequest,
): Promise<IReportContactsResponse> {
  const contacts = (request.contacts ?? []).slice(0, CONTACTS_MAX).map(({ origin, ageMs, unreachable }) => ({
    origin: truncate(origin),
    ageMs: ageMs ?? 0,
    unreachable: unreachable ?? false,
  }));
  await fleet.recordContacts(truncate(request.dataPlaneId), contacts);
  return {};
}

/** Requests and releases probe leases over gRPC: AcquireProbe and ReleaseProbe of any control-plane instance. */
import type { Logger } from '@acg/base/log';
import type { ControlPlaneClient } from '@acg/proto/control-plane-client';
import { CircuitOutcome, type ICircuitState, type IReleaseProbeRequest } from '@acg/proto/messages';
import type { ProbeClient } from './pushed-breaker-registry.js';

/** Short, because a call waits for it; on failure the registry decides. */
const ACQUIRE_TIMEOUT_MS = 2_000;
const RELEASE_TIMEOUT_MS = 5_000;

export class GrpcProbeClient implements ProbeClient {
  readonly #client: ControlPlaneClient;
  readonly #dataPlaneId: string;
  readonly #log: Logger;

  constructor(client: ControlPlaneClient, dataPlaneId: string, log: Logger) {
    this.#client = client;
    this.#dataPlaneId = dataPlaneId;
    this.#log = log;
  }

  async acquire(
    circuitKey: string,
    epoch: number,
  ): Promise<{ readonly lease: string | null; readonly state: ICircuitState | null }> {
    const request = { circuitKey, epoch, dataPlaneId: this.#dataPlaneId };
    const { granted, lease, state } = await this.#client.acquireProbe(request, ACQUIRE_TIMEOUT_MS);
    return { lease: granted ? (lease ?? '') : null, state: state ?? null };
  }

  release(circuitKey: string, lease: string): void {
    this.#releaseProbe({ circuitKey, lease });
  }

  reportSuccess(circuitKey: string, epoch: number, lease: string): void {
    this.#releaseProbe({ circuitKey, lease, epoch, outcome: CircuitOutcome.SUCCESS });
  }

  #releaseProbe(request: IReleaseProbeRequest): void {
    // A lease that could not be released expires by itself.
    this.#client.releaseProbe(request, RELEASE_TIMEOUT_MS).catch((error: unknown) => {
      this.#log.debug({ err: error }, 'releasing a probe lease failed');
    });
  }
}

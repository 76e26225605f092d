import type { Breakers } from '../breaker/breakers.js';
import type { CallMetering } from '../call/call-metering.js';
import type { FailureHandler } from '../call/failure-handler.js';
import type { AcquireSlot } from '../call/stages/acquire-slot.js';
import type { AuthenticateDeps } from '../call/stages/authenticate.js';
import type { Counters } from '../limits/counters.js';

/** Dependencies of every pipeline. */
export interface PipelineDeps
  extends Pick<AuthenticateDeps, 'contexts' | 'unauthenticatedLimiter' | 'onAuthenticated'> {
  readonly counters: Pick<Counters, 'admit' | 'growReservation' | 'settle' | 'peek'>;
  readonly breakers: Breakers;
  readonly acquireOrgSlot: AcquireSlot;
  readonly metering: CallMetering;
  readonly failures: FailureHandler;
}

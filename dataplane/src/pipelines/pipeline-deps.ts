import type { CallMetering } from '../call/call-metering.js';
import type { Failures } from '../call/failures.js';
import type { AuthenticateDeps } from '../call/stages/authenticate.js';
import type { TakeShare } from '../call/stages/share.js';
import type { Circuits } from '../circuit/circuits.js';
import type { Counters } from '../counters/counters.js';

/** What every pipeline asks of the parts around the calls. */
export interface PipelineDeps extends Pick<AuthenticateDeps, 'contexts' | 'unknownTokens' | 'onAuthenticated'> {
  readonly counters: Pick<Counters, 'admit' | 'grow' | 'settle' | 'standing'>;
  readonly circuits: Circuits;
  readonly takeShare: TakeShare;
  readonly metering: CallMetering;
  readonly failures: Failures;
}

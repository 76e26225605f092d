/** For tests: a dialer whose dials wait until the test decides about them. */
import type { Dialer, DialTarget, SocketReadHandler } from '@acg/base/dialer/dialer';
import { createLocalDialer } from '../../upstream/testing/dialer-recorder-certificate-fixture.js';

type DialCallback = Parameters<Dialer['dial']>[2];

export class HeldDials implements Pick<Dialer, 'dial'> {
  readonly #local = createLocalDialer();
  /** Dials that were begun, in their order; a decided one stays. */
  readonly begun: { readonly connect: () => void; readonly fail: (error: Error) => void }[] = [];
  /** True: dials wait; false: they connect at once. */
  isHolding = true;

  dial(target: DialTarget, onread: SocketReadHandler | null, done: DialCallback): void {
    const connect = (): void => this.#local.dial(target, onread, done);
    this.begun.push({ connect, fail: (error) => done(error, null) });
    if (!this.isHolding) connect();
  }
}

/** How often a page with a rotation reads its state. Pure. */

const LIVE_MS = 2_000;

interface WithRotation {
  readonly rotation: { readonly state: string } | null;
}

/** For `refetchInterval`: false unless the gateway is testing a credential, or waits until the previous one is unused. */
export const rotationRefetchInterval = (data: WithRotation | undefined): number | false =>
  data?.rotation?.state === 'testing' || data?.rotation?.state === 'retiring' ? LIVE_MS : false;

/** Loads code that is not shown yet while the page is idle, so that a click does not wait for it. */
import { hasWaits } from '../../api/api-reachability.js';
import type { LazyComponent } from './lazy-component-no-suspense-delay.js';

/** Safari lacks the first. */
const whenIdle = globalThis.requestIdleCallback ?? setTimeout;

let isLoading = false;

/** Whether code is being loaded that the page does not need yet: its failure says nothing about what the page shows. */
export const isPreloadingWhenIdle = (): boolean => isLoading;

/** Loads the code of `components` one after another. Not for users who save data. */
export function preloadWhenIdle(components: readonly LazyComponent<object>[]): void {
  const { connection } = navigator as { readonly connection?: { readonly saveData?: boolean } };
  if (connection?.saveData === true) return;
  const left = [...components];
  const preloadNext = async (): Promise<void> => {
    if (!hasWaits()) {
      isLoading = true;
      await left.shift()?.preload();
      isLoading = false;
    }
    if (left.length > 0) whenIdle(preloadNext);
  };
  whenIdle(preloadNext);
}

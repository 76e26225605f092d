/**
 * A component whose code is loaded when it is first shown. Unlike `React.lazy` with `Suspense` it renders as soon as it
 * is loaded: React delays content that follows a fallback by up to 300 ms, which was most of the load time of most
 * views.
 */
import { type ComponentType, type FunctionComponent, type ReactNode, useEffect, useState } from 'react';
import { trackWait } from '../../api/api-reachability.js';

export interface LazyComponent<P extends object> extends FunctionComponent<P> {
  /** Loads the code before it is shown. A failure is ignored; the first mount tries again. The page does not wait for it. */
  readonly preload: () => Promise<void>;
}

/** A load failure is thrown to the nearest error boundary; the next mount tries again. */
export function lazyComponent<P extends object>(
  load: () => Promise<ComponentType<P>>,
  fallback: ReactNode,
): LazyComponent<P> {
  let Loaded: ComponentType<P> | null = null;
  const start = async (): Promise<void> => {
    Loaded = await load();
  };
  function LazyComponent(props: P) {
    const [failure, setFailure] = useState<{ readonly error: unknown } | null>(null);
    const [, redraw] = useState(false);
    useEffect(() => {
      if (Loaded !== null) return;
      trackWait(start()).then(
        () => redraw(true),
        (error: unknown) => setFailure({ error }),
      );
    }, []);
    if (failure !== null) throw failure.error;
    return Loaded === null ? fallback : <Loaded {...props} />;
  }
  return Object.assign(LazyComponent, { preload: () => start().catch(() => undefined) });
}

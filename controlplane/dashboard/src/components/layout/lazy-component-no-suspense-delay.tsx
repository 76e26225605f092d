/**
 * A component whose code is loaded when it is first shown. Unlike `React.lazy` with `Suspense` it renders as soon as it
 * is loaded: React delays content that follows a fallback by up to 300 ms, which was most of the load time of most
 * views.
 */
import { type ComponentType, type ReactNode, useEffect, useState } from 'react';

/** A load failure is thrown to the nearest error boundary; the next mount tries again. */
export function lazyComponent<P extends object>(
  load: () => Promise<ComponentType<P>>,
  fallback: ReactNode,
): ComponentType<P> {
  let Loaded: ComponentType<P> | null = null;
  return function LazyComponent(props: P) {
    const [failure, setFailure] = useState<{ readonly error: unknown } | null>(null);
    const [, redraw] = useState(false);
    useEffect(() => {
      if (Loaded !== null) return;
      load().then(
        (component) => {
          Loaded = component;
          redraw(true);
        },
        (error: unknown) => setFailure({ error }),
      );
    }, []);
    if (failure !== null) throw failure.error;
    return Loaded === null ? fallback : <Loaded {...props} />;
  };
}

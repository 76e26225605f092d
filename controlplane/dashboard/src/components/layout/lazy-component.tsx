/**
 * A component whose code comes when it is shown first. Unlike `React.lazy` under a `Suspense` it is drawn as soon as it is
 * there: React holds back whatever follows a fallback for 300 ms, which was most of the time of most views.
 */
import { type ComponentType, type ReactNode, useEffect, useState } from 'react';

/** Fails into the nearest error boundary; the next time that it is shown is another try. */
export function lazyComponent<P extends object>(
  load: () => Promise<ComponentType<P>>,
  fallback: ReactNode,
): ComponentType<P> {
  let Loaded: ComponentType<P> | null = null;
  return function Later(props: P) {
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

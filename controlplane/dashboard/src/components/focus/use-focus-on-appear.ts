/**
 * For what comes into the place of the button that was pressed, or of what held it: the focus went with that, and whoever
 * presses keys would begin anew at the top of the page.
 */
import { type RefObject, useEffect, useRef } from 'react';

/** `shown`: it is there now. The element takes a focus, e.g. by `tabIndex={-1}`. */
export function useFocusOnAppear<T extends HTMLElement>(shown = true): RefObject<T | null> {
  const element = useRef<T>(null);
  useEffect(() => {
    if (shown && document.activeElement === document.body) element.current?.focus({ preventScroll: true });
  }, [shown]);
  return element;
}

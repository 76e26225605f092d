/**
 * For an element that replaces the pressed button or its container. The focus was lost with that element, so keyboard
 * users would start at the top of the page.
 */
import { type RefObject, useEffect, useRef } from 'react';

/** `shown`: the element is mounted now. It must be focusable, e.g. by `tabIndex={-1}`. */
export function useFocusOnAppear<T extends HTMLElement>(shown = true): RefObject<T | null> {
  const element = useRef<T>(null);
  useEffect(() => {
    if (shown && document.activeElement === document.body) element.current?.focus({ preventScroll: true });
  }, [shown]);
  return element;
}

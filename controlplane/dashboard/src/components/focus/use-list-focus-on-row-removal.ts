/**
 * For lists whose rows come and go: when the focused row disappears, the list takes the focus. Otherwise keyboard users
 * would start at the top of the page.
 */
import { type FocusEvent, useEffect, useRef } from 'react';

/** Props of the list element. */
export function useListFocusOnRowRemoval() {
  const list = useRef<HTMLDivElement>(null);
  const focused = useRef<Element | null>(null);
  useEffect(() => {
    if (focused.current === null || focused.current.isConnected) return;
    focused.current = null;
    if (document.activeElement === document.body) list.current?.focus({ preventScroll: true });
  });
  return {
    ref: list,
    tabIndex: -1,
    onFocus: ({ target }: FocusEvent) => {
      focused.current = target;
    },
    onBlur: ({ target }: FocusEvent) => {
      // Removing a focused element also fires `blur`; only an element that is still in the page has really lost the
      // focus.
      if (target.isConnected) focused.current = null;
    },
  };
}

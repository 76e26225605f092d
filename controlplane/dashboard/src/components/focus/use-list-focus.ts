/**
 * For a list whose rows come and go: what had the focus may go with its row, and whoever presses keys would begin anew at
 * the top of the page. The list itself takes it then.
 */
import { type FocusEvent, useEffect, useRef } from 'react';

/** Properties of the list. */
export function useListFocus() {
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
      // What is taken out of the page is left by nobody.
      if (target.isConnected) focused.current = null;
    },
  };
}

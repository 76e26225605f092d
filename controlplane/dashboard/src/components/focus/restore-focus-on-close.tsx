/**
 * For dialogs that are unmounted instead of closed: returns the focus to the element that opened the first of a chain
 * of dialogs. The UI library would lose the focus, and keyboard users would start at the top of the page.
 */
import { useEffect, useState } from 'react';

/** The element that was last focused outside of all dialogs. A follow-up dialog is opened from inside another one. */
let opener: Element | null = null;

export function RestoreFocusOnClose(): null {
  const [before] = useState(() => {
    const focused = document.activeElement;
    if (focused !== null && focused !== document.body && focused.closest('[role="dialog"]') === null) opener = focused;
    return opener;
  });
  useEffect(
    () => () => {
      const lost = document.activeElement === null || document.activeElement === document.body;
      if (lost && before instanceof HTMLElement && before.isConnected) before.focus({ preventScroll: true });
    },
    [before],
  );
  return null;
}

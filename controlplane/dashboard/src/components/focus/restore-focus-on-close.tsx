/**
 * Stands in a dialog that is taken out of the page when it is done, rather than closed: the focus goes back to what opened
 * the first of the dialogs that followed each other, where the kit would leave it nowhere and a keyboard begin anew.
 */
import { useEffect, useState } from 'react';

/** What was pressed outside of all dialogs last; a dialog that follows another is opened from inside of one. */
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

/**
 * Restores the focus of a button that was disabled while its request was pending. Disabling a focused button moves the
 * focus to the page's start, which loses a keyboard user's position. Does nothing if the focus has moved elsewhere.
 */
export function restoreFocusWhenEnabled(): void {
  const button = document.activeElement;
  if (!(button instanceof HTMLButtonElement)) return;
  const observer = new MutationObserver(() => {
    if (button.disabled) return;
    observer.disconnect();
    if (document.activeElement === document.body) button.focus({ preventScroll: true });
  });
  observer.observe(button, { attributes: true, attributeFilter: ['disabled'] });
}

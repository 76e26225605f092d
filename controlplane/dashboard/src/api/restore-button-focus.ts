/**
 * A button that waits for its answer is disabled, and so loses the focus: whoever presses keys would begin anew at the top of
 * the page. It gets the focus back when it can be pressed again, unless that is somewhere else by then.
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

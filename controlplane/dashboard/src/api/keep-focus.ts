/**
 * A button that waits for its answer is disabled, and so loses the focus: whoever presses keys would begin anew at the top of
 * the page. It gets the focus back when it can be pressed again, unless that is somewhere else by then.
 */
export function keepFocus(): void {
  const pressed = document.activeElement;
  if (!(pressed instanceof HTMLButtonElement)) return;
  const watch = new MutationObserver(() => {
    if (pressed.disabled) return;
    watch.disconnect();
    if (document.activeElement === document.body) pressed.focus({ preventScroll: true });
  });
  watch.observe(pressed, { attributes: true, attributeFilter: ['disabled'] });
}

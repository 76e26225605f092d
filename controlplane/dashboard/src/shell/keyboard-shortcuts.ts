/**
 * Keyboard shortcuts of every screen, inactive while the user types: `g` and a letter, `?`, `/`, and Ctrl or ⌘ with K.
 */
import { useEffect, useRef } from 'react';
import { useLocation } from 'wouter';
import { NAVIGATION } from '../screens/screen-registry.js';

const SEQUENCE_MS = 1_500;
const PATHS_BY_KEY = new Map(NAVIGATION.flatMap(({ items }) => items.map(({ key, path }) => [key, path] as const)));

interface ShortcutActions {
  readonly openPalette: () => void;
  readonly openHelp: () => void;
}

export function useKeyboardShortcuts(actions: ShortcutActions): void {
  const [, navigate] = useLocation();
  const latest = useRef({ ...actions, navigate });
  latest.current = { ...actions, navigate };
  useEffect(() => {
    let prefixPressedAt = Number.NEGATIVE_INFINITY;
    const listen = (event: KeyboardEvent): void => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
        event.preventDefault();
        latest.current.openPalette();
        return;
      }
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      const target = event.timeStamp - prefixPressedAt < SEQUENCE_MS ? PATHS_BY_KEY.get(event.key) : undefined;
      prefixPressedAt = event.key === 'g' ? event.timeStamp : Number.NEGATIVE_INFINITY;
      if (target !== undefined) latest.current.navigate(target);
      else if (event.key === '?') latest.current.openHelp();
      else if (event.key === '/') focusSearch(event);
    };
    addEventListener('keydown', listen);
    return () => removeEventListener('keydown', listen);
  }, []);
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || target.closest('input,textarea,select,[role="dialog"]') !== null);

function focusSearch(event: KeyboardEvent): void {
  const field = document.querySelector<HTMLInputElement>('main input[type="search"]');
  if (field === null) return;
  event.preventDefault();
  field.focus();
}

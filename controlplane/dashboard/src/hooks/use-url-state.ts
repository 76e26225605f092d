/** Filters, pages, periods and tabs in the URL: they can be shared, and the back button undoes them. */
import { useCallback, useMemo } from 'react';
import { useLocation, useSearch } from 'wouter';

type Values = Readonly<Record<string, string | number>>;
type Widened<T extends Values> = { readonly [K in keyof T]: T[K] extends number ? number : string };

interface UrlState<T extends Values> {
  readonly values: Widened<T>;
  /** `replace`: adds no history entry, e.g. while the user types. */
  readonly set: (changes: Partial<Widened<T>>, options?: { readonly replace?: boolean }) => void;
  readonly clear: () => void;
  /** Whether a value other than the page differs from its default. */
  readonly isFiltered: boolean;
}

/**
 * `defaults` must be a constant; values equal to their default are left out of the URL. Every change resets the page to
 * 1.
 */
export function useUrlState<T extends Values>(defaults: T): UrlState<T> {
  const search = useSearch();
  const [path, navigate] = useLocation();
  const values = useMemo(() => parseUrlValues(defaults, search), [defaults, search]);
  const set = useCallback<UrlState<T>['set']>(
    (changes, options) => {
      const next = new URLSearchParams(search);
      const all: Record<string, string | number | undefined> = 'page' in defaults ? { page: 1, ...changes } : changes;
      for (const [name, value] of Object.entries(all)) {
        if (value === undefined || value === defaults[name]) next.delete(name);
        else next.set(name, String(value));
      }
      const text = next.toString();
      navigate(text === '' ? path : `${path}?${text}`, { replace: options?.replace ?? false });
    },
    [defaults, navigate, path, search],
  );
  const clear = useCallback(() => navigate(path), [navigate, path]);
  const isFiltered = Object.keys(defaults).some((name) => name !== 'page' && values[name] !== defaults[name]);
  return { values, set, clear, isFiltered };
}

function parseUrlValues<T extends Values>(defaults: T, search: string): Widened<T> {
  const given = new URLSearchParams(search);
  const entries = Object.entries(defaults).map(([name, fallback]) => {
    const text = given.get(name);
    if (text === null) return [name, fallback];
    if (typeof fallback === 'string') return [name, text];
    const number = Number(text);
    return [name, Number.isSafeInteger(number) && number >= 0 ? number : fallback];
  });
  return Object.fromEntries(entries) as Widened<T>;
}

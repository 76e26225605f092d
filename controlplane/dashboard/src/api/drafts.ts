/**
 * What somebody has typed into a form, and which dialog is open, when the session ends under their hands: it is there
 * again when the same person has signed in to the same organization. It is kept in the page's memory alone, and is gone
 * when the form is left in any other way. Never for secrets: what holds a credential or a password is a `useState`.
 */
import { type Dispatch, type SetStateAction, useEffect, useRef, useState } from 'react';
import { ME, queryClient } from './query-client.js';

const kept = new Map<string, unknown>();

/** Who is signed in, and where; null: nobody. */
function ownerNow(): string | null {
  const me = queryClient.getQueryData<{ user: { id: string } | null; orgId: string } | null>(ME) ?? null;
  return me === null ? null : `${me.user?.id} ${me.orgId}`;
}

/** As `useState`. `name` is that of no other draft, e.g. `project name`. */
export function useDraft<T>(name: string, initial: T): [T, Dispatch<SetStateAction<T>>] {
  const [key] = useState(() => `${ownerNow()} ${name}`);
  const [first] = useState(() => initial);
  const [value, setValue] = useState<T>(() => (kept.has(key) ? (kept.get(key) as T) : initial));
  const latest = useRef(value);
  useEffect(() => {
    latest.current = value;
  }, [value]);
  useEffect(() => {
    kept.delete(key);
    return () => {
      if (ownerNow() === null && latest.current !== first) kept.set(key, latest.current);
    };
  }, [key, first]);
  return [value, setValue];
}

/** Whether the sign-in page can say that something is there again. */
export const draftsKept = (): boolean => kept.size > 0;

/** Somebody has signed in: what others had typed is gone. */
export function dropDraftsOfOthers(): void {
  const owner = ownerNow();
  for (const key of kept.keys()) if (!key.startsWith(`${owner} `)) kept.delete(key);
}

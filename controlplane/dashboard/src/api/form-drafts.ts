/**
 * What somebody has typed into a form, and which dialog is open, when the session ends under their hands: it is there
 * again when the same person has signed in to the same organization. It is kept in the page's memory alone, and is gone
 * when the form is left in any other way. Never for secrets: what holds a credential or a password is a `useState`.
 */
import { type Dispatch, type SetStateAction, useEffect, useRef, useState } from 'react';
import { ME_QUERY_KEY, queryClient } from './query-client.js';

const savedDrafts = new Map<string, unknown>();

/** Who is signed in, and where; null: nobody. */
function currentOwner(): string | null {
  const me = queryClient.getQueryData<{ user: { id: string } | null; orgId: string } | null>(ME_QUERY_KEY) ?? null;
  return me === null ? null : `${me.user?.id} ${me.orgId}`;
}

/** As `useState`. `name` is that of no other draft, e.g. `project name`. */
export function useFormDraft<T>(name: string, initial: T): [T, Dispatch<SetStateAction<T>>] {
  const [key] = useState(() => `${currentOwner()} ${name}`);
  const [initialValue] = useState(() => initial);
  const [value, setValue] = useState<T>(() => (savedDrafts.has(key) ? (savedDrafts.get(key) as T) : initial));
  const latestValue = useRef(value);
  useEffect(() => {
    latestValue.current = value;
  }, [value]);
  useEffect(() => {
    savedDrafts.delete(key);
    return () => {
      if (currentOwner() === null && latestValue.current !== initialValue) savedDrafts.set(key, latestValue.current);
    };
  }, [key, initialValue]);
  return [value, setValue];
}

/** Whether the sign-in page can say that something is there again. */
export const hasSavedDrafts = (): boolean => savedDrafts.size > 0;

/** Somebody has signed in: what others had typed is gone. */
export function discardOtherUsersDrafts(): void {
  const owner = currentOwner();
  for (const key of savedDrafts.keys()) if (!key.startsWith(`${owner} `)) savedDrafts.delete(key);
}

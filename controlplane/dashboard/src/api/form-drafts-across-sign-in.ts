/**
 * Typed input and open dialogs that survive the end of a session. They return when the same user signs in to the same
 * organization again. They exist only in the page's memory and are discarded when the form closes in any other way.
 * Never use it for secrets: credentials and passwords go into a `useState`.
 */
import { type Dispatch, type SetStateAction, useEffect, useRef, useState } from 'react';
import { ME_QUERY_KEY, queryClient } from './query-client.js';

const savedDrafts = new Map<string, unknown>();

/** The signed-in user and organization; null: signed out. */
function currentOwner(): string | null {
  const me = queryClient.getQueryData<{ user: { id: string } | null; orgId: string } | null>(ME_QUERY_KEY) ?? null;
  return me === null ? null : `${me.user?.id} ${me.orgId}`;
}

/** Like `useState`. `name` must be unique among all drafts, e.g. `project name`. */
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

/** Whether the sign-in page can announce saved input. */
export const hasSavedDrafts = (): boolean => savedDrafts.size > 0;

/** After a sign-in: discards the drafts of all other users. */
export function discardOtherUsersDrafts(): void {
  const owner = currentOwner();
  for (const key of savedDrafts.keys()) if (!key.startsWith(`${owner} `)) savedDrafts.delete(key);
}

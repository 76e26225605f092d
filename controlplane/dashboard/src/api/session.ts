/** Who is signed in, and how one signs in, out and over to another organization. */
import { useMutation, useQuery } from '@tanstack/react-query';
import { api, startReads, stopReads } from './api.js';
import { dropDraftsOfOthers } from './drafts.js';
import { BASE_PATH, SIGNED_OUT } from './page-facts.js';
import { ME, queryClient } from './query-client.js';

const ASK_AGAIN_MS = 3_000;

type Me = Awaited<ReturnType<typeof readMe>>;
export type Role = Me['role'];

/** The cookie is a person's, never a management token's. */
const readMe = async () => {
  const { token: _, ...me } = await api.get('/v1/me');
  return me;
};

/** `data` null: nobody. */
export const useMe = () =>
  useQuery<Me | null>({
    queryKey: ME,
    queryFn: readMe,
    staleTime: 60_000,
    // Nothing else is asked meanwhile that could find out that there are answers again.
    refetchInterval: ({ state }) => (state.status === 'error' && state.data === undefined ? ASK_AGAIN_MS : false),
    ...(SIGNED_OUT ? { initialData: null } : {}),
  });

export const useConfig = (refetchMs: number | false = false) =>
  useQuery({
    queryKey: ['config'],
    queryFn: () => api.get('/v1/config'),
    staleTime: 60_000,
    refetchInterval: refetchMs,
  });

const enter = (me: Me): void => {
  queryClient.setQueryData(ME, me);
  dropDraftsOfOthers();
};

interface Credentials {
  readonly email: string;
  readonly password: string;
}

export const useSignIn = () =>
  useMutation({ mutationFn: (body: Credentials) => api.post('/v1/session', { body }), onSuccess: enter });

interface NewAccount extends Credentials {
  readonly name: string;
  readonly orgName: string;
}

export const useSignUp = () =>
  useMutation({
    mutationFn: async (body: NewAccount) => {
      const { token } = await api.post('/v1/auth/signup', { body });
      // Exchanged for the cookie at once: it ends with that.
      return api.post('/v1/session', { body: {}, headers: { authorization: `Bearer ${token}` } });
    },
    onSuccess: enter,
  });

/** What the page still reads would be refused when the session has changed, or answered for another organization. */
async function alone<T>(change: () => Promise<T>): Promise<T> {
  await queryClient.cancelQueries();
  stopReads();
  try {
    return await change();
  } catch (error) {
    startReads();
    void queryClient.invalidateQueries();
    throw error;
  }
}

export const useSwitchOrganization = () =>
  useMutation({
    mutationFn: (orgId: string) => alone(() => api.patch('/v1/session', { body: { orgId } })),
    // From anew: nothing of what the other organization's people may see stays in the page.
    onSuccess: () => location.assign(`${BASE_PATH}/`),
  });

export const useSignOut = () =>
  useMutation({
    mutationFn: () => alone(() => api.delete('/v1/session')),
    onSuccess: () => location.assign(`${BASE_PATH}/sign-in`),
  });

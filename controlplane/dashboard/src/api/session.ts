/** The session: who is signed in, the role, signing in and out, switching the organization. */
import { useMutation } from '@tanstack/react-query';
import { abortReads, allowReads, api } from './api-client.js';
import { discardOtherUsersDrafts } from './form-drafts-across-sign-in.js';
import { BASE_PATH, HAS_NO_SESSION_COOKIE } from './page-meta-tags.js';
import { CONFIG_QUERY_KEY, ME_QUERY_KEY, queryClient } from './query-client.js';
import { useQuery } from './use-query.js';

const REFETCH_MS = 3_000;

type Me = Awaited<ReturnType<typeof fetchMe>>;
export type Role = Me['role'];

/** The session cookie always belongs to a user, so the `token` field of management tokens is dropped. */
const fetchMe = async () => {
  const { token: _, ...me } = await api.get('/v1/me');
  return me;
};

/** Starts the request before the first render; {@link useMe} waits for the same response. */
export const fetchMeEarly = (): void => void queryClient.prefetchQuery({ queryKey: ME_QUERY_KEY, queryFn: fetchMe });

/** `data` null: signed out. */
export const useMe = () =>
  useQuery<Me | null>({
    queryKey: ME_QUERY_KEY,
    queryFn: fetchMe,
    staleTime: 60_000,
    // No other query runs in this state, so only this one can find out that the API responds again.
    refetchInterval: ({ state }) => (state.status === 'error' && state.data === undefined ? REFETCH_MS : false),
    ...(HAS_NO_SESSION_COOKIE ? { initialData: null } : {}),
  });

/** Of the organization in which the user works; empty while it loads. */
export function useOrganizationName(): string {
  const me = useMe().data;
  return me?.orgs.find(({ id }) => id === me.orgId)?.name ?? '';
}

export const useConfig = (refetchMs: number | false = false) =>
  useQuery({
    queryKey: CONFIG_QUERY_KEY,
    queryFn: () => api.get('/v1/config'),
    staleTime: 60_000,
    refetchInterval: refetchMs,
  });

const storeSignedInUser = (me: Me): void => {
  queryClient.setQueryData(ME_QUERY_KEY, me);
  discardOtherUsersDrafts();
};

interface LoginCredentials {
  readonly email: string;
  readonly password: string;
  /** Of the second factor. */
  readonly code?: string;
}

export const useSignIn = () =>
  useMutation({
    mutationFn: (body: LoginCredentials) => api.post('/v1/session', { body }),
    onSuccess: storeSignedInUser,
  });

interface SignUpInput extends LoginCredentials {
  readonly name: string;
  readonly orgName: string;
}

export const useSignUp = () =>
  useMutation({
    mutationFn: async (body: SignUpInput) => {
      const { token } = await api.post('/v1/auth/signup', { body });
      // The token is exchanged for the session cookie and ends with that exchange.
      return api.post('/v1/session', { body: {}, headers: { authorization: `Bearer ${token}` } });
    },
    onSuccess: storeSignedInUser,
  });

/** Aborts pending reads first: after the change they would be rejected, or return data of the other organization. */
async function withReadsAborted<T>(changeSession: () => Promise<T>): Promise<T> {
  await queryClient.cancelQueries();
  abortReads();
  try {
    return await changeSession();
  } catch (error) {
    allowReads();
    void queryClient.invalidateQueries();
    throw error;
  }
}

/** `address`: where to go afterwards; the start page by default. */
export const useSwitchOrganization = (address = `${BASE_PATH}/`) =>
  useMutation({
    mutationFn: (orgId: string) => withReadsAborted(() => api.patch('/v1/session', { body: { orgId } })),
    // A full page load: no data of the previous organization stays in memory.
    onSuccess: () => location.assign(address),
  });

export const useSignOut = () =>
  useMutation({
    mutationFn: () => withReadsAborted(() => api.delete('/v1/session')),
    onSuccess: () => location.assign(`${BASE_PATH}/sign-in`),
  });

/** From the lowest role to the highest. The server decides what a role allows; the screens show it before the click. */
const ROLES_ASCENDING: readonly Role[] = ['viewer', 'member', 'admin', 'owner'];

/** Null: allowed; otherwise the reason as a sentence. */
export function useMissingRoleReason(requiredRole: Role): string | null {
  const role = useMe().data?.role ?? 'viewer';
  if (ROLES_ASCENDING.indexOf(role) >= ROLES_ASCENDING.indexOf(requiredRole)) return null;
  return `This requires the role ${requiredRole}. Your role is ${role}. An organization owner can change it.`;
}

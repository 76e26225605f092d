/** Credentials stored for agents at providers: tried, replaced and removed. What is typed is in no cache and no news. */
import { useMutation } from '@tanstack/react-query';
import { api } from '../api/api.js';
import { FieldError } from '../api/field-problem.js';
import { queryClient } from '../api/query-client.js';

const SERVER_ERROR = 500;
const OF_ACCOUNTS: ReadonlySet<unknown> = new Set(['accounts', 'credentials']);

export interface Credentials {
  readonly providerSlug: string;
  readonly credentials: Record<string, string>;
}

/** Shared credentials, too: they count their accounts, and both go out of use together. */
export const accountsChanged = () =>
  queryClient.invalidateQueries({ predicate: ({ queryKey }) => OF_ACCOUNTS.has(queryKey[0]) });

/** Throws what the provider has against the credential; what could not be tested passes. Answers a request's body. */
export async function testFirst({ providerSlug, credentials }: Credentials) {
  // What is in it differs by provider, so the API's document does not say.
  const body = { providerSlug, credentials: credentials as Record<string, never> };
  const test = await api.post('/v1/providers/accounts/test', { body });
  if (!test.ok && test.status !== null && test.status < SERVER_ERROR) {
    const text = test.hint ?? `The provider answers ${test.status}.`;
    const [field, ...others] = Object.keys(credentials);
    // Of several nobody knows which is wrong.
    throw field !== undefined && others.length === 0 ? new FieldError(`credentials.${field}`, text) : new Error(text);
  }
  return body;
}

/** Of the stored credential; a refused one goes out of use by it, and comes back when the provider takes it again. */
export const useTestAccount = () =>
  useMutation({
    mutationFn: (id: string) => api.post('/v1/providers/accounts/{id}/test', { params: { path: { id } } }),
    onSettled: accountsChanged,
  });

export const useRotateAccount = (id: string) =>
  useMutation({
    mutationFn: async (given: Credentials) => {
      const { credentials } = await testFirst(given);
      await api.post('/v1/providers/accounts/{id}/rotate', { params: { path: { id } }, body: { credentials } });
    },
    gcTime: 0,
    onSuccess: accountsChanged,
  });

export const useRemoveAccount = () =>
  useMutation({
    mutationFn: (id: string) => api.delete('/v1/providers/accounts/{id}', { params: { path: { id } } }),
    onSuccess: accountsChanged,
  });

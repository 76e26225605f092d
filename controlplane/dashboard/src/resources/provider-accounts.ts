/** Credentials stored for agents at providers: tried, replaced and removed. What is typed is in no cache and no news. */
import { useMutation } from '@tanstack/react-query';
import { api } from '../api/api-client.js';
import { FieldError } from '../api/field-error.js';
import { queryClient } from '../api/query-client.js';

const SERVER_ERROR = 500;
const ACCOUNT_QUERY_KEYS: ReadonlySet<unknown> = new Set(['accounts', 'credentials']);

export interface CredentialInput {
  readonly providerSlug: string;
  readonly credentials: Record<string, string>;
}

/** Shared credentials, too: they count their accounts, and both go out of use together. */
export const invalidateAccounts = () =>
  queryClient.invalidateQueries({ predicate: ({ queryKey }) => ACCOUNT_QUERY_KEYS.has(queryKey[0]) });

/** Throws what the provider has against the credential; what could not be tested passes. Answers a request's body. */
export async function testCredential({ providerSlug, credentials }: CredentialInput) {
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
    onSettled: invalidateAccounts,
  });

export const useRotateAccount = (id: string) =>
  useMutation({
    mutationFn: async (given: CredentialInput) => {
      const { credentials } = await testCredential(given);
      await api.post('/v1/providers/accounts/{id}/rotate', { params: { path: { id } }, body: { credentials } });
    },
    gcTime: 0,
    onSuccess: invalidateAccounts,
  });

export const useRemoveAccount = () =>
  useMutation({
    mutationFn: (id: string) => api.delete('/v1/providers/accounts/{id}', { params: { path: { id } } }),
    onSuccess: invalidateAccounts,
  });

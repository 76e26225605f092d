/** Provider credentials of agents: test, replace and remove. Typed credentials enter no cache and no toast. */
import { useMutation } from '@tanstack/react-query';
import { api } from '../api/api-client.js';
import { FieldError } from '../api/field-error.js';
import { queryClient } from '../api/query-client.js';

const SERVER_ERROR = 500;
const ACCOUNT_QUERY_KEYS: ReadonlySet<unknown> = new Set(['accounts', 'credentials']);

export interface CredentialInput {
  readonly providerSlug: string;
  readonly credentials: Record<string, string>;
  /** The agent that will use it, where one is known: tokens of the gateway name it. */
  readonly agentId?: string;
}

/** How a new credential replaces the current one; empty: at once. */
export interface RotationOptions {
  readonly testFirst?: boolean;
  readonly keepSeconds?: number;
  readonly compromised?: boolean;
}

export interface RotationInput extends CredentialInput {
  readonly options: RotationOptions;
}

/** Also refetches shared credentials: they count their accounts, and both go out of use together. */
export const invalidateAccounts = () =>
  queryClient.invalidateQueries({ predicate: ({ queryKey }) => ACCOUNT_QUERY_KEYS.has(queryKey[0]) });

/**
 * Throws the provider's rejection of the credential; a credential that could not be tested passes. Returns the request
 * body.
 */
export async function testCredential({ providerSlug, credentials, agentId }: CredentialInput) {
  // The fields differ by provider, so the OpenAPI document does not type them.
  const body = { providerSlug, credentials: credentials as Record<string, never> };
  const test = await api.post('/v1/providers/accounts/test', {
    body: agentId === undefined ? body : { ...body, agentId },
  });
  if (!test.ok && test.status !== null && test.status < SERVER_ERROR) {
    const tried = `${test.call ?? 'The test'} responded with ${test.status}.`;
    const text = test.hint === null ? tried : `${test.hint} ${tried}`;
    const [field, ...others] = Object.keys(credentials).filter((name) => name !== 'method');
    // With several fields it is unknown which one is wrong.
    throw field !== undefined && others.length === 0 ? new FieldError(`credentials.${field}`, text) : new Error(text);
  }
  return body;
}

/** Tests the stored credential. A rejected credential is disabled, and enabled again when the provider accepts it. */
export const useTestAccount = () =>
  useMutation({
    mutationFn: (id: string) => api.post('/v1/providers/accounts/{id}/test', { params: { path: { id } } }),
    onSettled: invalidateAccounts,
  });

export const useRotateAccount = (id: string) =>
  useMutation({
    mutationFn: async ({ options, ...given }: RotationInput) => {
      const { credentials } = await testCredential(given);
      const params = { path: { id } };
      await api.post('/v1/providers/accounts/{id}/rotate', { params, body: { credentials, ...options } });
    },
    gcTime: 0,
    onSuccess: invalidateAccounts,
  });

interface AccountPermissions {
  readonly allowSensitivePaths: boolean;
  readonly allowOpaque: boolean;
}

export const useSetAccountPermissions = (id: string) =>
  useMutation({
    mutationFn: (body: AccountPermissions) =>
      api.patch('/v1/providers/accounts/{id}', { params: { path: { id } }, body }),
    onSuccess: invalidateAccounts,
  });

export const useRemoveAccount = () =>
  useMutation({
    mutationFn: (id: string) => api.delete('/v1/providers/accounts/{id}', { params: { path: { id } } }),
    // Except the removed account itself: it would not be found.
    onSuccess: (_, id) =>
      queryClient.invalidateQueries({
        predicate: ({ queryKey: [first, second, third] }) =>
          ACCOUNT_QUERY_KEYS.has(first) && !(second === 'one' && third === id),
      }),
  });

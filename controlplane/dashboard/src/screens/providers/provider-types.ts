import type { useProviders } from '../../resources/agent-account-and-key-hooks.js';

export type Provider = NonNullable<ReturnType<typeof useProviders>['data']>[number];

/** A provider that the organization created. */
export type CustomProvider = Provider & { readonly id: string };

export const isCustomProvider = (provider: Provider): provider is CustomProvider => provider.id !== null;

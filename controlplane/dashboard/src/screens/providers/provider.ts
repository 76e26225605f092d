import type { useProviders } from '../../resources/agents.js';

export type Provider = NonNullable<ReturnType<typeof useProviders>['data']>[number];

/** One that the organization made. */
export type OwnProvider = Provider & { readonly id: string };

export const isOwn = (provider: Provider): provider is OwnProvider => provider.id !== null;

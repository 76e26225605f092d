/** The Catalogue tab: custom providers, which can be edited, and built-in ones. */
import { Group, NativeSelect, SimpleGrid, Skeleton, Stack, Text, Title } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { api } from '../../api/api-client.js';
import { useFormDraft } from '../../api/form-drafts-across-sign-in.js';
import { queryClient } from '../../api/query-client.js';
import { RoleGuardedButton } from '../../components/buttons/role-guarded-button.js';
import { EmptyState } from '../../components/feedback/empty-state.js';
import { ErrorAlert } from '../../components/feedback/error-alert.js';
import { showToast } from '../../components/feedback/toast.js';
import { ConfirmDialog } from '../../components/forms/confirm-dialog.js';
import { SearchInput } from '../../components/forms/search-input.js';
import { lazyComponent } from '../../components/layout/lazy-component-no-suspense-delay.js';
import { RowActionButton } from '../../components/tables/row-action-button.js';
import { PROVIDER_CATEGORIES } from '../../messages/provider-categories.js';
import { useProviders } from '../../resources/agent-account-and-key-hooks.js';
import { invalidateAccounts } from '../../resources/provider-account-mutations.js';
import { ProviderCard } from './provider-card.js';
import { type CustomProvider, isCustomProvider, type Provider } from './provider-types.js';

const CustomProviderDialog = lazyComponent(
  async () => (await import('./custom-provider-dialog.js')).CustomProviderDialog,
  null,
);

/** Refetches accounts, too: a changed or deleted provider may put their credentials out of use or delete them. */
const refreshProvidersAndAccounts = (): void => {
  void queryClient.invalidateQueries({ queryKey: ['custom-providers'] });
  void invalidateAccounts();
};

export function CatalogueTab() {
  const providers = useProviders();
  const [edited, setEdited] = useFormDraft<CustomProvider | 'new' | null>('provider', null);
  const [toDelete, setToDelete] = useState<CustomProvider | null>(null);
  const deleteProvider = useMutation({
    mutationFn: ({ id }: CustomProvider) => api.delete('/v1/custom-providers/{id}', { params: { path: { id } } }),
    onSuccess: (_, { displayName }) => {
      refreshProvidersAndAccounts();
      setToDelete(null);
      showToast(`${displayName} deleted`);
    },
  });
  if (providers.data === undefined) {
    return providers.error === null ? (
      <Skeleton h={240} />
    ) : (
      <ErrorAlert error={providers.error} onRetry={providers.refetch} />
    );
  }
  const own = providers.data.filter(isCustomProvider);
  const button = (
    <RoleGuardedButton
      requiredRole="admin"
      leftSection={<Plus size={16} aria-hidden />}
      onClick={() => setEdited('new')}
    >
      New provider
    </RoleGuardedButton>
  );
  return (
    <Stack gap="lg">
      <Stack gap="md" component="section" aria-label="Custom">
        <Group justify="space-between">
          <Title order={2}>Custom</Title>
          {own.length > 0 && button}
        </Group>
        {own.length === 0 && (
          <EmptyState
            title="No custom providers yet"
            text="Add any HTTP service with its base URL and the way its credential is sent."
            action={button}
          />
        )}
        <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }} spacing="md">
          {own.map((provider) => (
            <ProviderCard
              key={provider.slug}
              provider={provider}
              actions={
                <Group gap="xs">
                  <RowActionButton
                    requiredRole="admin"
                    label="Edit"
                    rowName={provider.displayName}
                    onClick={() => setEdited(provider)}
                  />
                  <RowActionButton
                    requiredRole="admin"
                    label="Delete"
                    rowName={provider.displayName}
                    isDestructive
                    onClick={() => {
                      deleteProvider.reset();
                      setToDelete(provider);
                    }}
                  />
                </Group>
              }
            />
          ))}
        </SimpleGrid>
      </Stack>
      <BuiltInProviders providers={providers.data.filter(({ builtIn }) => builtIn)} />
      {edited !== null && (
        <CustomProviderDialog
          provider={edited === 'new' ? null : edited}
          onClose={() => setEdited(null)}
          onSaved={(name) => {
            refreshProvidersAndAccounts();
            setEdited(null);
            showToast(`${name} saved`);
          }}
        />
      )}
      {toDelete !== null && (
        <ConfirmDialog
          opened
          onClose={() => setToDelete(null)}
          title="Delete provider"
          action="Delete provider"
          requiredText={toDelete.slug}
          onConfirm={() => deleteProvider.mutate(toDelete)}
          pending={deleteProvider.isPending}
          error={deleteProvider.error}
        >
          Deletes the credentials stored for it, too. Agents’ calls to it are rejected from now on.
        </ConfirmDialog>
      )}
    </Stack>
  );
}

function BuiltInProviders({ providers }: { readonly providers: readonly Provider[] }) {
  const [search, setSearch] = useState('');
  const [category, setCategory] = useState('');
  const wanted = search.trim().toLowerCase();
  const found = providers.filter(
    (provider) =>
      (category === '' || provider.category === category) &&
      (provider.displayName.toLowerCase().includes(wanted) || provider.slug.includes(wanted)),
  );
  return (
    <Stack gap="md" component="section" aria-label="Built-in">
      <Group justify="space-between" align="flex-end">
        <Title order={2}>Built-in</Title>
        <Group gap="sm">
          <SearchInput label="Search providers" placeholder="Name" value={search} onChange={setSearch} />
          <NativeSelect
            aria-label="Category"
            data={[
              { value: '', label: 'All categories' },
              ...PROVIDER_CATEGORIES.flatMap((one) =>
                one.category === null ? [] : { value: one.category, label: one.title },
              ),
            ]}
            value={category}
            onChange={(event) => setCategory(event.currentTarget.value)}
          />
        </Group>
      </Group>
      {found.length === 0 && <Text c="dimmed">No built-in provider matches.</Text>}
      <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }} spacing="md">
        {found.map((provider) => (
          <ProviderCard key={provider.slug} provider={provider} />
        ))}
      </SimpleGrid>
    </Stack>
  );
}

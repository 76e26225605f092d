/** All providers that there are: those of the organization, which can be changed, and the built-in ones. */
import { Group, SimpleGrid, Skeleton, Stack, Title } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { api } from '../../api/api.js';
import { useDraft } from '../../api/drafts.js';
import { queryClient } from '../../api/query-client.js';
import { Confirm } from '../../parts/confirm.js';
import { Failure } from '../../parts/failure.js';
import { GuardedButton } from '../../parts/guarded-button.js';
import { Nothing } from '../../parts/nothing.js';
import { RowButton } from '../../parts/row-button.js';
import { toast } from '../../parts/toast.js';
import { accountsChanged } from '../../resources/accounts.js';
import { useProviders } from '../../resources/agents.js';
import { CustomProviderDialog } from './custom-provider-dialog.js';
import { isOwn, type OwnProvider } from './provider.js';
import { ProviderCard } from './provider-card.js';

/** Accounts too: other settings may have put their credentials out of use, or deleted them. */
const refresh = (): void => {
  void queryClient.invalidateQueries({ queryKey: ['custom-providers'] });
  void accountsChanged();
};

export function Catalogue() {
  const providers = useProviders();
  const [edited, setEdited] = useDraft<OwnProvider | 'new' | null>('provider', null);
  const [doomed, setDoomed] = useState<OwnProvider | null>(null);
  const remove = useMutation({
    mutationFn: ({ id }: OwnProvider) => api.delete('/v1/custom-providers/{id}', { params: { path: { id } } }),
    onSuccess: (_, { displayName }) => {
      refresh();
      setDoomed(null);
      toast(`${displayName} is deleted`);
    },
  });
  if (providers.data === undefined) {
    return providers.error === null ? (
      <Skeleton h={240} />
    ) : (
      <Failure error={providers.error} onRetry={providers.refetch} />
    );
  }
  const own = providers.data.filter(isOwn);
  const button = (
    <GuardedButton needs="admin" leftSection={<Plus size={16} aria-hidden />} onClick={() => setEdited('new')}>
      New provider
    </GuardedButton>
  );
  return (
    <Stack gap="lg">
      <Stack gap="md" component="section" aria-label="Your own">
        <Group justify="space-between">
          <Title order={2}>Your own</Title>
          {own.length > 0 && button}
        </Group>
        {own.length === 0 && (
          <Nothing
            title="None yet"
            text="Any HTTP service can be a provider: say where it is and how its credential is sent."
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
                  <RowButton needs="admin" verb="Edit" of={provider.displayName} onClick={() => setEdited(provider)} />
                  <RowButton
                    needs="admin"
                    verb="Delete"
                    of={provider.displayName}
                    grave
                    onClick={() => {
                      remove.reset();
                      setDoomed(provider);
                    }}
                  />
                </Group>
              }
            />
          ))}
        </SimpleGrid>
      </Stack>
      <Stack gap="md" component="section" aria-label="Built in">
        <Title order={2}>Built in</Title>
        <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }} spacing="md">
          {providers.data
            .filter(({ builtIn }) => builtIn)
            .map((provider) => (
              <ProviderCard key={provider.slug} provider={provider} />
            ))}
        </SimpleGrid>
      </Stack>
      {edited !== null && (
        <CustomProviderDialog
          provider={edited === 'new' ? null : edited}
          onClose={() => setEdited(null)}
          onSaved={(name) => {
            refresh();
            setEdited(null);
            toast(`${name} is saved`);
          }}
        />
      )}
      {doomed !== null && (
        <Confirm
          opened
          onClose={() => setDoomed(null)}
          title="Delete provider"
          action="Delete provider"
          typed={doomed.slug}
          onConfirm={() => remove.mutate(doomed)}
          pending={remove.isPending}
          error={remove.error}
        >
          The credentials that are stored for it are deleted too, and agents’ calls to it are refused from now on.
        </Confirm>
      )}
    </Stack>
  );
}

/** Sets an account's credential anew; the provider is asked first whether it takes it. */
import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { CredentialFields, filledIn } from '../../parts/credential-fields.js';
import { Failure } from '../../parts/failure.js';
import { toast } from '../../parts/toast.js';
import { useRotateAccount } from '../../resources/accounts.js';
import { useProviders } from '../../resources/agents.js';
import type { Account } from './account-list.js';

interface RotateAccountProps {
  readonly account: Account;
  readonly onClose: () => void;
}

export function RotateAccount({ account, onClose }: RotateAccountProps) {
  const { id, providerSlug, agentName } = account;
  const providers = useProviders();
  const rotate = useRotateAccount(id);
  const [credentials, setCredentials] = useState<Readonly<Record<string, string>>>({});
  const provider = providers.data?.find(({ slug }) => slug === providerSlug);
  return (
    <Modal opened onClose={onClose} title={`New credential at ${provider?.displayName ?? providerSlug}`}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          rotate.mutate(
            { providerSlug, credentials: filledIn(credentials) },
            {
              onSuccess: () => {
                toast(`${agentName} calls with the new credential from now on`);
                onClose();
              },
            },
          );
        }}
      >
        <Stack gap="md">
          <Text size="sm">
            {agentName} goes on with the same token. The old credential is then gone from the gateway; end it with the
            provider too.
          </Text>
          {provider !== undefined && (
            <CredentialFields fields={provider.credentialFields} values={credentials} onChange={setCredentials} />
          )}
          {providers.error !== null && <Failure error={providers.error} onRetry={() => void providers.refetch()} />}
          {rotate.error !== null && <Failure error={rotate.error} />}
          <Group justify="flex-end" gap="sm">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={rotate.isPending} disabled={provider === undefined}>
              Test and store
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

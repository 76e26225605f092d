/** A drawer with the credential of one account: how it was obtained, and the buttons that connect it. */
import { Drawer, Skeleton, Stack, Text } from '@mantine/core';
import { useOrganizationName } from '../../api/session.js';
import { useProviders } from '../../resources/agent-account-and-key-hooks.js';
import { useAccount } from '../../resources/connection-hooks.js';
import { ErrorAlert } from '../feedback/error-alert.js';
import { CredentialBadge } from './credential-badge.js';
import { MintedCredential } from './minted-credential.js';

interface AccountDrawerProps {
  /** Id of the account; empty: closed. */
  readonly id: string;
  readonly onClose: () => void;
}

export function AccountDrawer({ id, onClose }: AccountDrawerProps) {
  const query = useAccount(id);
  const providers = useProviders();
  const organization = useOrganizationName();
  const account = query.data;
  const providerName =
    providers.data?.find(({ slug }) => slug === account?.providerSlug)?.displayName ?? account?.providerSlug;
  return (
    <Drawer
      opened={id !== ''}
      onClose={onClose}
      title={account === undefined ? 'Account' : `${account.agentName} at ${providerName}`}
      position="right"
    >
      {query.error !== null && (
        <Stack gap="sm">
          <ErrorAlert error={query.error} onRetry={query.refetch} />
          <Text size="sm">You see accounts of {organization}. Switch the organization if it is one of another.</Text>
        </Stack>
      )}
      {account === undefined && query.error === null && id !== '' && <Skeleton h={200} />}
      {account !== undefined && (
        <Stack gap="lg">
          <Text size="sm" c="dimmed">
            {account.agentName} calls {providerName} with this credential and never sees it.
            {account.credentialId !== null && ' It is shared with other agents.'}
          </Text>
          {account.minted === null ? (
            <CredentialBadge {...account} isShared={account.credentialId !== null} />
          ) : (
            <MintedCredential
              target={
                account.credentialId === null
                  ? { kind: 'account', id: account.id }
                  : { kind: 'credential', id: account.credentialId }
              }
              usedBy={account.credentialId === null ? account.agentName : 'every agent that shares the credential'}
              providerSlug={account.providerSlug}
              minted={account.minted}
            />
          )}
        </Stack>
      )}
    </Drawer>
  );
}

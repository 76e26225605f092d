/**
 * How the gateway obtains the credential of an account or a shared credential: state, scopes, expiry, what went wrong
 * and what to do. A person connects and disconnects it here; `acg accounts connect` opens this place.
 */
import { Alert, Group, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { useOrganizationName } from '../../api/session.js';
import { useProviders } from '../../resources/agent-account-and-key-hooks.js';
import { type ConnectTarget, type Minted, useConnect, useDisconnect } from '../../resources/connection-hooks.js';
import { RoleGuardedButton } from '../buttons/role-guarded-button.js';
import { DetailRow } from '../feedback/detail-row.js';
import { ErrorAlert } from '../feedback/error-alert.js';
import { RelativeTime } from '../feedback/relative-time.js';
import { StatusBadge } from '../feedback/status-badge.js';
import { showToast } from '../feedback/toast.js';
import { ConfirmDialog } from '../forms/confirm-dialog.js';
import { RedirectUri } from '../forms/redirect-uri.js';
import { MINTED_STATES } from './credential-badge.js';

const CONNECTED_KIND = 'oauth2_authorization_code';

interface MintedCredentialProps {
  readonly target: ConnectTarget;
  /** Who will use it, e.g. the name of the agent. */
  readonly usedBy: string;
  readonly providerSlug: string;
  readonly minted: Minted;
}

export function MintedCredential({ target, usedBy, providerSlug, minted }: MintedCredentialProps) {
  const providers = useProviders();
  const provider = providers.data?.find(({ slug }) => slug === providerSlug);
  const method = provider?.methods.find(({ name }) => name === minted.method);
  const [tone, state] = MINTED_STATES[minted.state];
  const isConnected = minted.kind === CONNECTED_KIND;
  return (
    <Stack gap="sm" component="section" aria-label="Credential">
      <Stack component="dl" gap={6} m={0}>
        <DetailRow label="State">
          <StatusBadge tone={tone}>{state}</StatusBadge>
        </DetailRow>
        <DetailRow label="Kind">{method?.label ?? minted.method}</DetailRow>
        <DetailRow label="Scopes">{minted.scope ?? 'not stated by the provider'}</DetailRow>
        {isConnected && (
          <DetailRow label="Connected">
            <RelativeTime at={minted.connectedAt} never="Never" />
          </DetailRow>
        )}
        <DetailRow label="Current token expires">
          <RelativeTime at={minted.expiresAt} never={minted.mintedAt === null ? 'No token' : 'Never'} />
        </DetailRow>
        <DetailRow label="Last refresh">
          <RelativeTime at={minted.mintedAt} never="Never" />
        </DetailRow>
      </Stack>
      {minted.failure !== null && minted.failure.reason !== 'not_connected' && <Failure failure={minted.failure} />}
      {isConnected && (
        <>
          {provider !== undefined && (
            <RedirectUri
              provider={provider}
              isOwnApp={method === undefined || method.fields.some(({ required }) => required)}
            />
          )}
          <ConnectButtons
            target={target}
            usedBy={usedBy}
            providerName={provider?.displayName ?? providerSlug}
            isNew={minted.state === 'not_connected'}
          />
        </>
      )}
    </Stack>
  );
}

const Failure = ({ failure }: { readonly failure: NonNullable<Minted['failure']> }) => (
  <Alert color="red" variant="light" title={failure.cause}>
    <Text size="sm">
      {failure.remedy}
      {failure.detail !== null && ` Code of the provider: ${failure.detail}.`} Failed <RelativeTime at={failure.at} />
      {failure.nextAttemptAt !== null && (
        <>
          , next attempt <RelativeTime at={failure.nextAttemptAt} />
        </>
      )}
      .
    </Text>
  </Alert>
);

interface ConnectButtonsProps {
  readonly target: ConnectTarget;
  readonly usedBy: string;
  readonly providerName: string;
  readonly isNew: boolean;
}

function ConnectButtons({ target, usedBy, providerName, isNew }: ConnectButtonsProps) {
  const connect = useConnect(target);
  const disconnect = useDisconnect(target);
  const [isDisconnectOpen, setIsDisconnectOpen] = useState(false);
  const organization = useOrganizationName();
  return (
    <Stack gap="sm">
      <Text size="sm">
        You allow the organization <b>{organization}</b> to use your account at <b>{providerName}</b> for{' '}
        <b>{usedBy}</b>. Log in at the provider as the user whose permissions the agent should have.
      </Text>
      {connect.error !== null && <ErrorAlert error={connect.error} />}
      <Group gap="sm">
        <RoleGuardedButton
          requiredRole="admin"
          loading={connect.isPending || connect.isSuccess}
          onClick={() => connect.mutate()}
        >
          {isNew ? 'Connect' : 'Reconnect'}
        </RoleGuardedButton>
        {!isNew && (
          <RoleGuardedButton
            requiredRole="admin"
            variant="default"
            onClick={() => {
              disconnect.reset();
              setIsDisconnectOpen(true);
            }}
          >
            Disconnect
          </RoleGuardedButton>
        )}
      </Group>
      <ConfirmDialog
        opened={isDisconnectOpen}
        onClose={() => setIsDisconnectOpen(false)}
        title={`Disconnect ${providerName}`}
        action="Disconnect"
        onConfirm={() =>
          disconnect.mutate(undefined, {
            onSuccess: () => {
              setIsDisconnectOpen(false);
              showToast(`${providerName} disconnected`);
            },
          })
        }
        pending={disconnect.isPending}
        error={disconnect.error}
      >
        Deletes the grant and revokes it at the provider, where it can be revoked. Calls of {usedBy} to this provider
        are rejected until an admin reconnects it.
      </ConfirmDialog>
    </Stack>
  );
}

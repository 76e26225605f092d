/** The Providers tab of an agent: its provider accounts. */
import { Button, Group, Modal, Stack } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { RoleGuardedButton } from '../../components/buttons/role-guarded-button.js';
import { CredentialBadge } from '../../components/credentials/credential-badge.js';
import { CREDENTIAL_TEST_TOASTS } from '../../components/feedback/credential-test-toasts.js';
import { EmptyState } from '../../components/feedback/empty-state.js';
import { RelativeTime } from '../../components/feedback/relative-time.js';
import { StatusBadge } from '../../components/feedback/status-badge.js';
import { ConfirmDialog } from '../../components/forms/confirm-dialog.js';
import { credentialFieldLabels, toCredentials } from '../../components/forms/credential-fields.js';
import { Form } from '../../components/forms/form-with-server-errors.js';
import { EMPTY_ACCOUNT, ProviderAccountFields } from '../../components/forms/provider-account-fields.js';
import { ProviderSelect } from '../../components/forms/provider-select.js';
import { formErrors } from '../../components/forms/server-errors-at-form-fields.js';
import { DataTable } from '../../components/tables/data-table.js';
import {
  type Agent,
  useAddAccount,
  useAgentAccounts,
  useProviders,
} from '../../resources/agent-account-and-key-hooks.js';
import { useRemoveAccount, useTestAccount } from '../../resources/provider-account-mutations.js';
import { AccountPermissionsDialog } from './account-permissions-dialog.js';
import { AccountToolsDialog } from './account-tools-dialog.js';

export function ProvidersTab({ agent }: { readonly agent: Agent }) {
  const accounts = useAgentAccounts(agent.id);
  const providers = useProviders();
  const [adding, dialog] = useDisclosure(false);
  const [removing, setRemoving] = useState<{ readonly id: string; readonly providerSlug: string } | null>(null);
  const [toolsOf, setToolsOf] = useState<{ readonly id: string; readonly providerSlug: string } | null>(null);
  const [permitting, setPermitting] = useState<NonNullable<typeof accounts.data>[number] | null>(null);
  const test = useTestAccount();
  const removeAccount = useRemoveAccount();
  const nameOf = (slug: string) => providers.data?.find((provider) => provider.slug === slug)?.displayName ?? slug;
  const isMcpServer = (slug: string) => providers.data?.find((one) => one.slug === slug)?.usageFormat === 'mcp';
  const button = (
    <RoleGuardedButton requiredRole="admin" leftSection={<Plus size={16} aria-hidden />} onClick={dialog.open}>
      Add provider
    </RoleGuardedButton>
  );
  return (
    <Stack gap="md">
      <Group justify="flex-end">{button}</Group>
      <DataTable
        label="Providers"
        query={accounts}
        rows={(data) => data}
        rowKey={({ id }) => id}
        href={({ id }) => `/providers/accounts/${id}`}
        columns={[
          { header: 'Provider', cell: ({ providerSlug }) => nameOf(providerSlug) },
          {
            header: 'Credential',
            cell: ({ status, minted }) => <CredentialBadge status={status} minted={minted} />,
          },
          {
            header: 'Sensitive and opaque calls',
            cell: ({ allowSensitivePaths, allowOpaque }) =>
              allowSensitivePaths || allowOpaque ? (
                <StatusBadge tone="warning">
                  {`${[allowSensitivePaths && 'sensitive', allowOpaque && 'opaque'].filter(Boolean).join(' and ')} allowed`}
                </StatusBadge>
              ) : (
                'rejected'
              ),
          },
          { header: 'Last used', cell: ({ lastUsedAt }) => <RelativeTime at={lastUsedAt} never="Never" /> },
          { header: 'Added', cell: ({ createdAt }) => <RelativeTime at={createdAt} /> },
          {
            header: 'Actions',
            cell: (account) => (
              <Group gap="xs" justify="flex-end" wrap="nowrap">
                {isMcpServer(account.providerSlug) && (
                  <Button size="xs" variant="default" onClick={() => setToolsOf(account)}>
                    Tools
                  </Button>
                )}
                <RoleGuardedButton
                  requiredRole="admin"
                  size="xs"
                  variant="default"
                  loading={test.isPending && test.variables === account.id}
                  onClick={() => test.mutate(account.id, CREDENTIAL_TEST_TOASTS)}
                >
                  Test
                </RoleGuardedButton>
                <RoleGuardedButton
                  requiredRole="admin"
                  size="xs"
                  variant="default"
                  onClick={() => setPermitting(account)}
                >
                  Calls…
                </RoleGuardedButton>
                <RoleGuardedButton
                  requiredRole="admin"
                  size="xs"
                  variant="default"
                  onClick={() => {
                    removeAccount.reset();
                    setRemoving(account);
                  }}
                >
                  Remove
                </RoleGuardedButton>
              </Group>
            ),
          },
        ]}
        empty={
          <EmptyState
            title="No providers yet"
            text="The agent can call the providers added here. Only the gateway knows their credentials."
            action={button}
          />
        }
      />
      <Modal opened={adding} onClose={dialog.close} title="Add provider">
        <AddProviderForm agentId={agent.id} onDone={dialog.close} />
      </Modal>
      {toolsOf !== null && (
        <AccountToolsDialog
          account={{ ...toolsOf, agentId: agent.id }}
          name={nameOf(toolsOf.providerSlug)}
          accountSlugs={(accounts.data ?? []).map(({ providerSlug }) => providerSlug)}
          onClose={() => setToolsOf(null)}
        />
      )}
      {permitting !== null && (
        <AccountPermissionsDialog
          account={permitting}
          providerName={nameOf(permitting.providerSlug)}
          onClose={() => setPermitting(null)}
        />
      )}
      <ConfirmDialog
        opened={removing !== null}
        onClose={() => setRemoving(null)}
        title={`Remove ${removing === null ? '' : nameOf(removing.providerSlug)}`}
        action="Remove provider"
        pending={removeAccount.isPending}
        error={removeAccount.error}
        onConfirm={() => removing !== null && removeAccount.mutate(removing.id, { onSuccess: () => setRemoving(null) })}
      >
        Deletes the credential. The agent’s calls to this provider are rejected from now on.
      </ConfirmDialog>
    </Stack>
  );
}

/** The API reports an existing account under `agent`. */
const LABELS = { providerSlug: 'Provider', agent: 'Agent' };

function AddProviderForm({ agentId, onDone }: { readonly agentId: string; readonly onDone: () => void }) {
  const providers = useProviders();
  const add = useAddAccount();
  const [slug, setSlug] = useState('openai');
  const [account, setAccount] = useState(EMPTY_ACCOUNT);
  const provider = providers.data?.find((one) => one.slug === slug);
  const errors = formErrors(add.error, { ...LABELS, ...credentialFieldLabels(provider) });
  return (
    <Form
      errors={errors}
      onSubmit={() => {
        const { credentials, allowOpaque } = account;
        add.mutate(
          { agentId, providerSlug: slug, credentials: toCredentials(provider, credentials), allowOpaque },
          { onSuccess: onDone },
        );
      }}
    >
      <ProviderSelect
        error={errors.fieldError('providerSlug') ?? errors.fieldError('agent')}
        value={slug}
        onChange={(value) => {
          setSlug(value);
          setAccount(EMPTY_ACCOUNT);
        }}
      />
      {provider !== undefined && (
        <ProviderAccountFields provider={provider} values={account} onChange={setAccount} errors={errors} />
      )}
      <Group justify="flex-end">
        <Button type="submit" loading={add.isPending}>
          Test and add
        </Button>
      </Group>
    </Form>
  );
}

/** A drawer with the agents that use a shared credential; agents can be added and removed. */
import { Anchor, Drawer, Group, Skeleton, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'wouter';
import { RoleGuardedButton } from '../../components/buttons/role-guarded-button.js';
import { ErrorAlert } from '../../components/feedback/error-alert.js';
import { showErrorToast, showToast } from '../../components/feedback/toast.js';
import { AgentSelect } from '../../components/forms/agent-select.js';
import { Form } from '../../components/forms/form-with-server-errors.js';
import { formErrors } from '../../components/forms/server-errors-at-form-fields.js';
import { lazyComponent } from '../../components/layout/lazy-component-no-suspense-delay.js';
import { PagingBar } from '../../components/tables/paging-bars.js';
import { formatAgentCount } from '../../format/format.js';
import { useRemoveAccount } from '../../resources/provider-account-mutations.js';
import {
  type SharedCredential,
  useAssignSharedCredential,
  useSharedCredential,
} from '../../resources/shared-credential-hooks.js';
import { useAccountList, useProviderName } from './use-account-list.js';

const MintedCredential = lazyComponent(
  async () => (await import('../../components/credentials/minted-credential.js')).MintedCredential,
  <Skeleton h={200} />,
);

const RotationSection = lazyComponent(
  async () => (await import('../../components/credentials/rotation-section.js')).RotationSection,
  <Skeleton h={200} />,
);

const PAGE_SIZE = 20;
const LABELS = { agent: 'Agent', agentId: 'Agent', credentialId: 'Agent' };

interface SharedCredentialDrawerProps {
  /** Id of the credential; empty: closed. */
  readonly id: string;
  readonly onClose: () => void;
}

export function SharedCredentialDrawer({ id, onClose }: SharedCredentialDrawerProps) {
  const credentialQuery = useSharedCredential(id);
  const nameOf = useProviderName();
  const credential = credentialQuery.data;
  return (
    <Drawer opened={id !== ''} onClose={onClose} title={credential?.name ?? 'Shared credential'} position="right">
      {credentialQuery.error !== null && <ErrorAlert error={credentialQuery.error} onRetry={credentialQuery.refetch} />}
      {credential === undefined && credentialQuery.error === null && id !== '' && <Skeleton h={200} />}
      {credential !== undefined && (
        <Stack gap="lg">
          <Text size="sm" c="dimmed">
            Provider: {nameOf(credential.providerSlug)}
            {credential.projectId === null ? ', available to all agents' : ', available to one project'}. Agents never
            see it. A rotation applies to all agents at once.
          </Text>
          {credential.minted !== null && (
            <MintedCredential
              target={{ kind: 'credential', id: credential.id }}
              usedBy={`every agent that shares ${credential.name}`}
              providerSlug={credential.providerSlug}
              minted={credential.minted}
            />
          )}
          {credential.rotation !== null && (
            <RotationSection target={{ kind: 'credential', id: credential.id }} rotation={credential.rotation} />
          )}
          <ShareWithAgentForm credential={credential} />
          <AgentsUsingCredential credential={credential} />
        </Stack>
      )}
    </Drawer>
  );
}

function ShareWithAgentForm({ credential }: { readonly credential: SharedCredential }) {
  const [agentId, setAgentId] = useState('');
  const share = useAssignSharedCredential();
  const errors = formErrors(share.error, LABELS);
  return (
    <Form
      errors={errors}
      onSubmit={() => {
        const body = { agentId, providerSlug: credential.providerSlug, credentialId: credential.id };
        share.mutate(body, {
          onSuccess: () => {
            setAgentId('');
            showToast('The agent now uses this credential');
          },
        });
      }}
      gap="sm"
    >
      <AgentSelect
        label="Share with"
        placeholder="Another agent"
        value={agentId}
        error={errors.fieldError('agent') ?? errors.fieldError('agentId') ?? errors.fieldError('credentialId')}
        onChange={(next) => {
          setAgentId(next);
          share.reset();
        }}
      />
      <Group>
        <RoleGuardedButton
          requiredRole="admin"
          type="submit"
          loading={share.isPending}
          disabledReason={agentId === '' ? 'Select an agent first.' : null}
        >
          Share
        </RoleGuardedButton>
      </Group>
    </Form>
  );
}

function AgentsUsingCredential({ credential }: { readonly credential: SharedCredential }) {
  const [page, setPage] = useState(1);
  const users = useAccountList({ credentialId: credential.id, limit: PAGE_SIZE, offset: (page - 1) * PAGE_SIZE });
  const removeAccount = useRemoveAccount();
  if (users.data === undefined) {
    return users.error === null ? <Skeleton h={120} /> : <ErrorAlert error={users.error} onRetry={users.refetch} />;
  }
  const { accounts, total } = users.data;
  return (
    <Stack gap="sm" component="section" aria-label="Used by">
      <Text size="sm" fw={600}>
        {total === 0 ? 'Not used by any agent' : `Used by ${formatAgentCount(total)}`}
      </Text>
      <ul className="acg-plain-list">
        {accounts.map(({ id, agentId, agentName }) => (
          <Group
            component="li"
            key={id}
            justify="space-between"
            wrap="nowrap"
            py={6}
            gap="sm"
            className="acg-divided-row"
          >
            <Anchor
              component={Link}
              href={`/agents/${agentId}?tab=providers`}
              size="sm"
              underline="always"
              className="acg-break-anywhere"
            >
              {agentName}
            </Anchor>
            <RoleGuardedButton
              requiredRole="admin"
              size="xs"
              variant="subtle"
              color="red"
              aria-label={`Remove from ${agentName}`}
              loading={removeAccount.isPending && removeAccount.variables === id}
              onClick={() =>
                removeAccount.mutate(id, {
                  onSuccess: () => showToast(`${agentName} no longer uses this credential`),
                  onError: showErrorToast,
                })
              }
            >
              Remove
            </RoleGuardedButton>
          </Group>
        ))}
      </ul>
      {total > PAGE_SIZE && (
        <PagingBar
          page={page}
          pageSize={PAGE_SIZE}
          total={total}
          onPage={setPage}
          shown={accounts.length}
          label="Used by"
        />
      )}
    </Stack>
  );
}

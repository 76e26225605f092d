/** Which providers the agent may call, each with its stored credential. */
import { Button, Group, Modal, Select, Stack } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { Ago } from '../../parts/ago.js';
import { Confirm } from '../../parts/confirm.js';
import { CredentialFields, credentialLabels, filledIn } from '../../parts/credential-fields.js';
import { DataTable } from '../../parts/data-table.js';
import { Form } from '../../parts/form.js';
import { formProblem } from '../../parts/form-problem.js';
import { GuardedButton } from '../../parts/guarded-button.js';
import { Nothing } from '../../parts/nothing.js';
import { StatusBadge } from '../../parts/status-badge.js';
import { TEST_NEWS } from '../../parts/test-news.js';
import { useRemoveAccount, useTestAccount } from '../../resources/accounts.js';
import { type Agent, useAccounts, useAddAccount, useProviders } from '../../resources/agents.js';

export function ProvidersTab({ agent }: { readonly agent: Agent }) {
  const accounts = useAccounts(agent.id);
  const providers = useProviders();
  const [adding, dialog] = useDisclosure(false);
  const [removing, setRemoving] = useState<{ readonly id: string; readonly providerSlug: string } | null>(null);
  const test = useTestAccount();
  const remove = useRemoveAccount();
  const nameOf = (slug: string) => providers.data?.find((provider) => provider.slug === slug)?.displayName ?? slug;
  const button = (
    <GuardedButton needs="admin" leftSection={<Plus size={16} aria-hidden />} onClick={dialog.open}>
      Add provider
    </GuardedButton>
  );
  return (
    <Stack gap="md">
      <Group justify="flex-end">{button}</Group>
      <DataTable
        label="Providers"
        query={accounts}
        rows={(data) => data}
        rowKey={({ id }) => id}
        columns={[
          { header: 'Provider', cell: ({ providerSlug }) => nameOf(providerSlug) },
          {
            header: 'Credential',
            cell: ({ status }) =>
              status === 'active' ? (
                <StatusBadge tone="good">stored</StatusBadge>
              ) : (
                <StatusBadge tone="bad">needs to be set again</StatusBadge>
              ),
          },
          { header: 'Added', cell: ({ createdAt }) => <Ago at={createdAt} /> },
          {
            header: 'Actions',
            cell: (account) => (
              <Group gap="xs" justify="flex-end" wrap="nowrap">
                <GuardedButton
                  needs="admin"
                  size="compact-sm"
                  variant="default"
                  loading={test.isPending && test.variables === account.id}
                  onClick={() => test.mutate(account.id, TEST_NEWS)}
                >
                  Test
                </GuardedButton>
                <GuardedButton needs="admin" size="compact-sm" variant="default" onClick={() => setRemoving(account)}>
                  Remove
                </GuardedButton>
              </Group>
            ),
          },
        ]}
        empty={
          <Nothing
            title="No provider yet"
            text="The agent can call those that are added here, with the credential that only the gateway knows."
            action={button}
          />
        }
      />
      <Modal opened={adding} onClose={dialog.close} title="Add provider">
        <AddProvider agentId={agent.id} onDone={dialog.close} />
      </Modal>
      <Confirm
        opened={removing !== null}
        onClose={() => setRemoving(null)}
        title={`Remove ${removing === null ? '' : nameOf(removing.providerSlug)}`}
        action="Remove provider"
        pending={remove.isPending}
        error={remove.error}
        onConfirm={() => removing !== null && remove.mutate(removing.id, { onSuccess: () => setRemoving(null) })}
      >
        The credential is deleted, and the agent’s calls to this provider are refused from now on.
      </Confirm>
    </Stack>
  );
}

/** That the agent has an account with it already is said of the agent. */
const LABELS = { providerSlug: 'Provider', agent: 'Agent' };

function AddProvider({ agentId, onDone }: { readonly agentId: string; readonly onDone: () => void }) {
  const providers = useProviders();
  const add = useAddAccount();
  const [slug, setSlug] = useState<string | null>('openai');
  const [credentials, setCredentials] = useState<Readonly<Record<string, string>>>({});
  const provider = providers.data?.find((one) => one.slug === slug);
  const problem = formProblem(add.error, { ...LABELS, ...credentialLabels(provider?.credentialFields) });
  return (
    <Form
      problem={problem}
      onSubmit={() => {
        if (slug === null) return;
        add.mutate({ agentId, providerSlug: slug, credentials: filledIn(credentials) }, { onSuccess: onDone });
      }}
    >
      <Select
        label="Provider"
        error={problem.at('providerSlug') ?? problem.at('agent')}
        data={(providers.data ?? []).map((one) => ({ value: one.slug, label: one.displayName }))}
        allowDeselect={false}
        value={slug}
        onChange={(value) => {
          setSlug(value);
          setCredentials({});
        }}
      />
      {provider !== undefined && (
        <CredentialFields
          fields={provider.credentialFields}
          values={credentials}
          onChange={setCredentials}
          problem={problem}
        />
      )}
      <Group justify="flex-end">
        <Button type="submit" loading={add.isPending}>
          Test and add
        </Button>
      </Group>
    </Form>
  );
}

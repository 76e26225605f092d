/** Lets an agent call a provider: with a credential of its own, or with one that agents share. */
import { NativeSelect, Text } from '@mantine/core';
import { useState } from 'react';
import { useDraft } from '../../api/drafts.js';
import { AgentChoice } from '../../parts/agent-choice.js';
import { CredentialFields, credentialLabels, filledIn } from '../../parts/credential-fields.js';
import { FormDialog } from '../../parts/form-dialog.js';
import { formProblem } from '../../parts/form-problem.js';
import { useAddAccount, useProviders } from '../../resources/agents.js';
import { useCredentialsOf, useShareWith } from '../../resources/credentials.js';
import { ProviderSelect } from './provider-select.js';

const LABELS = { agentId: 'Agent', agent: 'Agent', providerSlug: 'Provider', credentialId: 'Credential' };
const OWN = '';

interface NewAccountProps {
  readonly onClose: () => void;
  readonly onAdded: () => void;
}

export function NewAccount({ onClose, onAdded }: NewAccountProps) {
  const providers = useProviders();
  const [agentId, setAgentId] = useDraft('new account agent', '');
  const [providerSlug, setProviderSlug] = useDraft('new account provider', 'openai');
  const [credentialId, setCredentialId] = useDraft('new account credential', OWN);
  const [credentials, setCredentials] = useState<Readonly<Record<string, string>>>({});
  const shared = useCredentialsOf(providerSlug).data ?? [];
  const addOwn = useAddAccount();
  const addShared = useShareWith();
  const fields = providers.data?.find(({ slug }) => slug === providerSlug)?.credentialFields ?? [];
  const error = credentialId === OWN ? addOwn.error : addShared.error;
  const problem = formProblem(error, { ...LABELS, ...credentialLabels(fields) });
  const submit = (): void => {
    if (credentialId !== OWN) {
      addShared.mutate({ agentId, providerSlug, credentialId }, { onSuccess: onAdded });
      return;
    }
    addOwn.mutate({ agentId, providerSlug, credentials: filledIn(credentials) }, { onSuccess: onAdded });
  };
  return (
    <FormDialog
      title="Add account"
      problem={problem}
      onSubmit={() => submit()}
      action={credentialId === OWN ? 'Test and add' : 'Add'}
      pending={addOwn.isPending || addShared.isPending}
      disabled={agentId === ''}
      onClose={onClose}
    >
      <AgentChoice
        label="Agent"
        placeholder="Which agent will call"
        value={agentId}
        error={problem.at('agentId') ?? problem.at('agent')}
        onChange={setAgentId}
      />
      <ProviderSelect
        value={providerSlug}
        error={problem.at('providerSlug')}
        onChange={(slug) => {
          setProviderSlug(slug);
          setCredentialId(OWN);
          setCredentials({});
          addOwn.reset();
        }}
      />
      {shared.length > 0 && (
        <NativeSelect
          label="Credential"
          data={[
            { value: OWN, label: 'Its own, entered here' },
            ...shared.map(({ id, name }) => ({ value: id, label: `Shared: ${name}` })),
          ]}
          error={problem.at('credentialId')}
          value={credentialId}
          onChange={(event) => setCredentialId(event.currentTarget.value)}
        />
      )}
      {credentialId === OWN ? (
        <CredentialFields fields={fields} values={credentials} onChange={setCredentials} problem={problem} />
      ) : (
        <Text size="sm" c="dimmed">
          It is stored already; one rotation of it is one for all agents that use it.
        </Text>
      )}
    </FormDialog>
  );
}

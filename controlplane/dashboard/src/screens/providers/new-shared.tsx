/** Stores a credential that many agents will use. */
import { NativeSelect } from '@mantine/core';
import { useState } from 'react';
import { useDraft } from '../../api/drafts.js';
import { CredentialFields, credentialLabels, filledIn } from '../../parts/credential-fields.js';
import { FormDialog } from '../../parts/form-dialog.js';
import { formProblem } from '../../parts/form-problem.js';
import { NameInput } from '../../parts/name-input.js';
import { useProjects, useProviders } from '../../resources/agents.js';
import { type SharedCredential, useAddShared } from '../../resources/credentials.js';
import { ProviderSelect } from './provider-select.js';

const LABELS = { name: 'Name', providerSlug: 'Provider', projectId: 'For the agents of' };

interface NewSharedProps {
  readonly onClose: () => void;
  readonly onAdded: (credential: SharedCredential) => void;
}

export function NewShared({ onClose, onAdded }: NewSharedProps) {
  const providers = useProviders();
  const projects = useProjects();
  const [name, setName] = useDraft('new shared name', '');
  const [providerSlug, setProviderSlug] = useDraft('new shared provider', 'openai');
  const [projectId, setProjectId] = useDraft('new shared project', '');
  const [credentials, setCredentials] = useState<Readonly<Record<string, string>>>({});
  const add = useAddShared();
  const fields = providers.data?.find(({ slug }) => slug === providerSlug)?.credentialFields ?? [];
  const problem = formProblem(add.error, { ...LABELS, ...credentialLabels(fields) });
  return (
    <FormDialog
      title="New shared credential"
      problem={problem}
      onSubmit={() => {
        const project = projectId === '' ? null : projectId;
        add.mutate(
          { name, providerSlug, projectId: project, credentials: filledIn(credentials) },
          { onSuccess: onAdded },
        );
      }}
      action="Test and store"
      pending={add.isPending}
      onClose={onClose}
    >
      <NameInput
        description="For you, to tell it from others."
        placeholder="OpenAI, production"
        withAsterisk={false}
        error={problem.at('name')}
        value={name}
        onChange={setName}
      />
      <ProviderSelect
        value={providerSlug}
        error={problem.at('providerSlug')}
        onChange={(slug) => {
          setProviderSlug(slug);
          setCredentials({});
          add.reset();
        }}
      />
      <CredentialFields fields={fields} values={credentials} onChange={setCredentials} problem={problem} />
      <NativeSelect
        label="For the agents of"
        description="What only one project may use goes with that project."
        data={[
          { value: '', label: 'the whole organization' },
          ...(projects.data ?? []).map((project) => ({ value: project.id, label: project.name })),
        ]}
        error={problem.at('projectId')}
        value={projectId}
        onChange={(event) => setProjectId(event.currentTarget.value)}
      />
    </FormDialog>
  );
}

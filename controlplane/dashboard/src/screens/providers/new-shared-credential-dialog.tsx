/** Stores a credential for several agents. */
import { NativeSelect } from '@mantine/core';
import { useState } from 'react';
import { useFormDraft } from '../../api/form-drafts-across-sign-in.js';
import { CredentialFields, credentialFieldLabels, toCredentials } from '../../components/forms/credential-fields.js';
import { FormDialog } from '../../components/forms/form-dialog.js';
import { NameInput } from '../../components/forms/name-input.js';
import { ProviderSelect } from '../../components/forms/provider-select.js';
import { formErrors } from '../../components/forms/server-errors-at-form-fields.js';
import { useProjects, useProviders } from '../../resources/agent-account-and-key-hooks.js';
import { type SharedCredential, useCreateSharedCredential } from '../../resources/shared-credential-hooks.js';

const LABELS = { name: 'Name', providerSlug: 'Provider', projectId: 'Available to' };

interface NewSharedCredentialDialogProps {
  readonly onClose: () => void;
  readonly onAdded: (credential: SharedCredential) => void;
}

export function NewSharedCredentialDialog({ onClose, onAdded }: NewSharedCredentialDialogProps) {
  const providers = useProviders();
  const projects = useProjects();
  const [name, setName] = useFormDraft('new shared name', '');
  const [providerSlug, setProviderSlug] = useFormDraft('new shared provider', 'openai');
  const [projectId, setProjectId] = useFormDraft('new shared project', '');
  const [credentials, setCredentials] = useState<Readonly<Record<string, string>>>({});
  const add = useCreateSharedCredential();
  const provider = providers.data?.find(({ slug }) => slug === providerSlug);
  const errors = formErrors(add.error, { ...LABELS, ...credentialFieldLabels(provider) });
  return (
    <FormDialog
      title="New shared credential"
      errors={errors}
      onSubmit={() => {
        const project = projectId === '' ? null : projectId;
        add.mutate(
          { name, providerSlug, projectId: project, credentials: toCredentials(provider, credentials) },
          { onSuccess: onAdded },
        );
      }}
      action="Test and store"
      pending={add.isPending}
      onClose={onClose}
    >
      <NameInput
        description="A name to recognize it by."
        placeholder="OpenAI, production"
        withAsterisk={false}
        error={errors.fieldError('name')}
        value={name}
        onChange={setName}
      />
      <ProviderSelect
        value={providerSlug}
        error={errors.fieldError('providerSlug')}
        onChange={(slug) => {
          setProviderSlug(slug);
          setCredentials({});
          add.reset();
        }}
      />
      {provider !== undefined && (
        <CredentialFields provider={provider} values={credentials} onChange={setCredentials} errors={errors} />
      )}
      <NativeSelect
        label="Available to"
        description="A credential of one project is deleted with that project."
        data={[
          { value: '', label: 'All agents of the organization' },
          ...(projects.data ?? []).map((project) => ({ value: project.id, label: project.name })),
        ]}
        error={errors.fieldError('projectId')}
        value={projectId}
        onChange={(event) => setProjectId(event.currentTarget.value)}
      />
    </FormDialog>
  );
}

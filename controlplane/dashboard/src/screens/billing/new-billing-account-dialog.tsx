/** Stores an admin key of a provider, with which the gateway reads usage and cost reports. */
import { NativeSelect, PasswordInput, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/api-client.js';
import { useFormDraft } from '../../api/form-drafts-across-sign-in.js';
import { FormDialog } from '../../components/forms/form-dialog.js';
import { NameInput } from '../../components/forms/name-input.js';
import { formErrors } from '../../components/forms/server-errors-at-form-fields.js';

const LABELS = { api: 'Provider', name: 'Name', adminKey: 'Admin key', providerSlug: 'Custom provider' };
const APIS = [
  { value: 'openai', label: 'OpenAI', hint: 'sk-admin-…' },
  { value: 'anthropic', label: 'Anthropic', hint: 'sk-ant-admin…' },
  { value: 'openrouter', label: 'OpenRouter', hint: 'A management key' },
] as const;
type Api = (typeof APIS)[number]['value'];

interface NewBillingAccountDialogProps {
  readonly onClose: () => void;
  readonly onAdded: (id: string) => void;
}

export function NewBillingAccountDialog({ onClose, onAdded }: NewBillingAccountDialogProps) {
  const [providerApi, setProviderApi] = useFormDraft<Api>('new billing api', 'openai');
  const [name, setName] = useFormDraft('new billing name', '');
  const [providerSlug, setProviderSlug] = useFormDraft('new billing provider', '');
  const [adminKey, setAdminKey] = useState('');
  const add = useMutation({
    mutationFn: async () => {
      const slug = providerSlug.trim();
      const custom = providerApi === 'openrouter' && slug !== '' ? { providerSlug: slug } : {};
      const body = { api: providerApi, name: name.trim(), adminKey: adminKey.trim(), ...custom };
      return (await api.post('/v1/billing/accounts', { body })).account.id;
    },
    gcTime: 0,
    onSuccess: onAdded,
  });
  const errors = formErrors(add.error, LABELS);
  return (
    <FormDialog
      title="New billing account"
      errors={errors}
      onSubmit={() => add.mutate()}
      action="Store"
      pending={add.isPending}
      onClose={onClose}
    >
      <NativeSelect
        label="Provider"
        data={APIS.map(({ value, label }) => ({ value, label }))}
        error={errors.fieldError('api')}
        value={providerApi}
        onChange={(event) => setProviderApi(event.currentTarget.value as Api)}
      />
      {providerApi === 'openrouter' && (
        <TextInput
          label="Custom provider (optional)"
          description="Its slug, where your agents call OpenRouter through a custom provider."
          error={errors.fieldError('providerSlug')}
          value={providerSlug}
          onChange={(event) => setProviderSlug(event.currentTarget.value)}
        />
      )}
      <NameInput
        description="A name to recognize it by."
        placeholder="Company account"
        withAsterisk={false}
        error={errors.fieldError('name')}
        value={name}
        onChange={setName}
      />
      <PasswordInput
        label="Admin key"
        description="Reads usage, costs and the list of keys. No agent's call can use it."
        placeholder={APIS.find(({ value }) => value === providerApi)!.hint}
        required
        withAsterisk={false}
        autoComplete="off"
        data-1p-ignore
        data-lpignore="true"
        spellCheck={false}
        {...errors.secretFieldProps('adminKey')}
        value={adminKey}
        onChange={(event) => setAdminKey(event.currentTarget.value)}
      />
    </FormDialog>
  );
}

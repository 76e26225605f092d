/** Creates or edits a custom provider: by a form with a preview of how its credential is sent, or by a definition. */
import { NativeSelect, Textarea, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { api } from '../../api/api-client.js';
import { FieldError } from '../../api/field-error.js';
import { useFormDraft } from '../../api/form-drafts-across-sign-in.js';
import { FormDialog } from '../../components/forms/form-dialog.js';
import { NameInput } from '../../components/forms/name-input.js';
import { formErrors } from '../../components/forms/server-errors-at-form-fields.js';
import { RequestPreview } from './auth-preview.js';
import type { CustomProvider } from './provider-types.js';

const AUTH_TYPES = [
  { value: 'bearer', label: 'Bearer token' },
  { value: 'header', label: 'Custom header' },
  { value: 'basic', label: 'User name and password' },
  { value: 'query', label: 'Query parameter' },
  { value: 'none', label: 'None' },
] as const;
type AuthType = (typeof AUTH_TYPES)[number]['value'];
const USAGE_FORMATS = [
  { value: '', label: 'Calls only' },
  { value: 'openai', label: 'OpenAI format' },
  { value: 'anthropic', label: 'Anthropic format' },
] as const;
type UsageFormat = (typeof USAGE_FORMATS)[number]['value'];

const LABELS = {
  displayName: 'Name',
  definition: 'Definition',
  slug: 'Slug',
  baseUrl: 'Base URL',
  authType: 'Authentication',
  authPrefix: 'Prefix',
  usageFormat: 'Usage format',
};

const DEFINITION_EXAMPLE = {
  credentials: {
    kind: 'api_key',
    fields: [{ name: 'apiKey', label: 'API key', secret: true, required: true }],
  },
  origins: { default: 'https://api.example.com' },
  inject: [{ header: 'authorization', value: 'Bearer {apiKey}' }],
  usage: { format: 'none' },
  sensitive: [{ call: '* /v1/keys/**' }],
};

function parseDefinition(text: string): Record<string, never> {
  try {
    // The OpenAPI document does not type its members.
    return JSON.parse(text) as Record<string, never>;
  } catch (error) {
    throw new FieldError('definition', (error as Error).message);
  }
}

interface CustomProviderDialogProps {
  /** Null: a new provider. */
  readonly provider: CustomProvider | null;
  readonly onClose: () => void;
  readonly onSaved: (name: string) => void;
}

export function CustomProviderDialog({ provider, onClose, onSaved }: CustomProviderDialogProps) {
  const draft = `provider ${provider?.id ?? 'new'}`;
  const [slug, setSlug] = useFormDraft(`${draft} slug`, provider?.slug ?? '');
  const [displayName, setDisplayName] = useFormDraft(`${draft} label`, provider?.displayName ?? '');
  const [baseUrl, setBaseUrl] = useFormDraft(`${draft} url`, provider?.baseUrl ?? '');
  const [authType, setAuthType] = useFormDraft<AuthType>(
    `${draft} auth`,
    (provider?.authType as AuthType | undefined) ?? 'bearer',
  );
  const [name, setName] = useFormDraft(`${draft} name`, provider?.authName ?? '');
  const [prefix, setPrefix] = useFormDraft(`${draft} prefix`, provider?.authPrefix ?? '');
  const [format, setFormat] = useFormDraft<UsageFormat>(
    `${draft} format`,
    (provider?.usageFormat as UsageFormat | null | undefined) ?? '',
  );
  const [described, setDescribed] = useFormDraft<'form' | 'definition'>(
    `${draft} described`,
    provider === null || provider.definition === null ? 'form' : 'definition',
  );
  const [definition, setDefinition] = useFormDraft(
    `${draft} definition`,
    JSON.stringify(provider?.definition ?? DEFINITION_EXAMPLE, null, 2),
  );
  const hasAuthName = authType === 'header' || authType === 'query';
  const settings = {
    authType,
    authName: hasAuthName && name !== '' ? name : null,
    authPrefix: authType === 'header' && prefix !== '' ? prefix : null,
  };
  const save = useMutation({
    mutationFn: () => {
      const rules =
        described === 'definition'
          ? { definition: parseDefinition(definition) }
          : { baseUrl: baseUrl.trim(), ...settings, usageFormat: format === '' ? null : format };
      const body = { slug, displayName, ...rules };
      return provider === null
        ? api.post('/v1/custom-providers', { body })
        : api.put('/v1/custom-providers/{id}', { params: { path: { id: provider.id } }, body });
    },
    onSuccess: () => onSaved(displayName),
  });
  const errors = formErrors(save.error, {
    ...LABELS,
    authName: authType === 'header' ? 'Header name' : 'Parameter name',
  });
  return (
    <FormDialog
      size="lg"
      title={provider === null ? 'New provider' : 'Edit provider'}
      errors={errors}
      onSubmit={() => save.mutate()}
      action="Save"
      pending={save.isPending}
      onClose={onClose}
    >
      <NameInput error={errors.fieldError('displayName')} value={displayName} onChange={setDisplayName} />
      <TextInput
        label="Slug"
        error={errors.fieldError('slug')}
        description={
          provider === null
            ? 'Part of the URL that agents call: a-z, 0-9 and -.'
            : 'Part of the URL that agents call. A new slug changes that URL for all agents.'
        }
        required
        minLength={2}
        maxLength={40}
        pattern="[a-z0-9\-]+"
        autoComplete="off"
        value={slug}
        onChange={(event) => setSlug(event.currentTarget.value)}
      />
      <NativeSelect
        label="Described by"
        data={[
          { value: 'form', label: 'Address and credential' },
          { value: 'definition', label: 'Definition (JSON)' },
        ]}
        value={described}
        onChange={(event) => setDescribed(event.currentTarget.value as 'form' | 'definition')}
        disabled={provider !== null}
      />
      {described === 'definition' ? (
        <Textarea
          label="Definition"
          description="The format of provider files: credentials, addresses, injection, usage, sensitive calls."
          error={errors.fieldError('definition')}
          required
          autosize
          minRows={12}
          maxRows={24}
          spellCheck={false}
          ff="monospace"
          value={definition}
          onChange={(event) => setDefinition(event.currentTarget.value)}
        />
      ) : (
        <>
          <TextInput
            label="Base URL"
            error={errors.fieldError('baseUrl')}
            description={
              provider === null ? undefined : 'If the host changes, all accounts need their credentials again.'
            }
            placeholder="https://api.example.com/v1"
            type="url"
            required
            autoComplete="off"
            value={baseUrl}
            onChange={(event) => setBaseUrl(event.currentTarget.value.trim())}
          />
          <NativeSelect
            label="Authentication"
            error={errors.fieldError('authType')}
            data={[...AUTH_TYPES]}
            value={authType}
            onChange={(event) => setAuthType(event.currentTarget.value as AuthType)}
          />
          {hasAuthName && (
            <TextInput
              label={authType === 'header' ? 'Header name' : 'Parameter name'}
              error={errors.fieldError('authName')}
              placeholder={authType === 'header' ? 'X-Api-Token' : 'api_key'}
              required
              maxLength={100}
              autoComplete="off"
              value={name}
              onChange={(event) => setName(event.currentTarget.value.trim())}
            />
          )}
          {authType === 'header' && (
            <TextInput
              label="Prefix (optional)"
              error={errors.fieldError('authPrefix')}
              description="Sent before the key exactly as entered, including spaces."
              placeholder="Token "
              maxLength={64}
              autoComplete="off"
              value={prefix}
              onChange={(event) => setPrefix(event.currentTarget.value)}
            />
          )}
          <NativeSelect
            label="Usage format"
            error={errors.fieldError('usageFormat')}
            data={[...USAGE_FORMATS]}
            value={format}
            onChange={(event) => setFormat(event.currentTarget.value as UsageFormat)}
          />
          <RequestPreview slug={slug} baseUrl={baseUrl} {...settings} />
        </>
      )}
    </FormDialog>
  );
}

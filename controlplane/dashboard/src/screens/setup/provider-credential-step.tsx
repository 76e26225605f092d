import { Group, Skeleton, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { RoleGuardedButton } from '../../components/buttons/role-guarded-button.js';
import { ErrorAlert } from '../../components/feedback/error-alert.js';
import { credentialFieldLabels, toCredentials } from '../../components/forms/credential-fields.js';
import { Form } from '../../components/forms/form-with-server-errors.js';
import { EMPTY_ACCOUNT, ProviderAccountFields } from '../../components/forms/provider-account-fields.js';
import { ProviderSelect } from '../../components/forms/provider-select.js';
import { formErrors } from '../../components/forms/server-errors-at-form-fields.js';
import { useAddAccount, useProviders } from '../../resources/agent-account-and-key-hooks.js';
import { StandInProviderOffer } from './stand-in-provider-offer.js';

export function ProviderCredentialStep({ agentId, onDone }: { readonly agentId: string; readonly onDone: () => void }) {
  const providers = useProviders();
  const add = useAddAccount();
  const [slug, setSlug] = useState('openai');
  const [{ credentials, allowOpaque }, setAccount] = useState(EMPTY_ACCOUNT);
  const provider = providers.data?.find((one) => one.slug === slug);
  if (providers.data === undefined) {
    return providers.error === null ? (
      <Skeleton h={120} />
    ) : (
      <ErrorAlert error={providers.error} onRetry={providers.refetch} />
    );
  }
  const errors = formErrors(add.error, credentialFieldLabels(provider));
  return (
    <Stack gap="lg">
      <Form
        errors={errors}
        onSubmit={() =>
          add.mutate(
            { agentId, providerSlug: slug, credentials: toCredentials(provider, credentials), allowOpaque },
            { onSuccess: onDone },
          )
        }
        maw={560}
      >
        <ProviderSelect
          error={errors.fieldError('providerSlug')}
          value={slug}
          onChange={(value) => {
            setSlug(value);
            setAccount(EMPTY_ACCOUNT);
            add.reset();
          }}
        />
        {provider !== undefined && (
          <ProviderAccountFields
            provider={provider}
            values={{ credentials, allowOpaque }}
            onChange={setAccount}
            errors={errors}
          />
        )}
        <Text size="sm" c="dimmed">
          The credential is tested with the provider, stored encrypted and never shown again. The agent never sees it.
        </Text>
        <Group>
          <RoleGuardedButton requiredRole="admin" type="submit" loading={add.isPending}>
            Test and store
          </RoleGuardedButton>
        </Group>
      </Form>
      <StandInProviderOffer agentId={agentId} onDone={onDone} />
    </Stack>
  );
}

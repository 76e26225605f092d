import { Chip, Group, Skeleton, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { CredentialFields, credentialLabels, filledIn } from '../../parts/credential-fields.js';
import { Failure } from '../../parts/failure.js';
import { Form } from '../../parts/form.js';
import { formProblem } from '../../parts/form-problem.js';
import { GuardedButton } from '../../parts/guarded-button.js';
import { useAddAccount, useProviders } from '../../resources/agents.js';
import { StandIn } from './stand-in.js';

export function ProviderStep({ agentId, onDone }: { readonly agentId: string; readonly onDone: () => void }) {
  const providers = useProviders();
  const add = useAddAccount();
  const [slug, setSlug] = useState('openai');
  const [credentials, setCredentials] = useState<Readonly<Record<string, string>>>({});
  const provider = providers.data?.find((one) => one.slug === slug);
  if (providers.data === undefined) {
    return providers.error === null ? (
      <Skeleton h={120} />
    ) : (
      <Failure error={providers.error} onRetry={providers.refetch} />
    );
  }
  const problem = formProblem(add.error, credentialLabels(provider?.credentialFields));
  return (
    <Stack gap="lg">
      <Form
        problem={problem}
        onSubmit={() =>
          add.mutate({ agentId, providerSlug: slug, credentials: filledIn(credentials) }, { onSuccess: onDone })
        }
        maw={560}
      >
        <Chip.Group
          value={slug}
          onChange={(value) => {
            setSlug(value);
            setCredentials({});
            add.reset();
          }}
        >
          <Group gap="xs" role="radiogroup" aria-label="Provider">
            {providers.data.map((one) => (
              <Chip key={one.slug} value={one.slug} variant="outline">
                {one.displayName}
              </Chip>
            ))}
          </Group>
        </Chip.Group>
        {provider !== undefined && (
          <CredentialFields
            fields={provider.credentialFields}
            values={credentials}
            onChange={setCredentials}
            problem={problem}
          />
        )}
        <Text size="sm" c="dimmed">
          It is tested with the provider, stored encrypted, and never shown again, not even to you. The agent never sees
          it.
        </Text>
        <Group>
          <GuardedButton needs="admin" type="submit" loading={add.isPending}>
            Test and store
          </GuardedButton>
        </Group>
      </Form>
      <StandIn agentId={agentId} onDone={onDone} />
    </Stack>
  );
}

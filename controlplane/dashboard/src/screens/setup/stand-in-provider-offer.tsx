/** Offers the stand-in provider that the operator may have configured, for users without a provider key. */
import { Divider, Group, Stack, Text } from '@mantine/core';
import { useConfig } from '../../api/session.js';
import { RoleGuardedButton } from '../../components/buttons/role-guarded-button.js';
import { formErrors } from '../../components/forms/server-errors-at-form-fields.js';
import { useAddAccount, useProviders } from '../../resources/agent-account-and-key-hooks.js';

export function StandInProviderOffer({ agentId, onDone }: { readonly agentId: string; readonly onDone: () => void }) {
  const [standIn] = useConfig().data?.standIns ?? [];
  const providers = useProviders();
  const add = useAddAccount();
  if (standIn === undefined) return null;
  const { providerSlug, credentials } = standIn;
  const name = providers.data?.find(({ slug }) => slug === providerSlug)?.displayName ?? providerSlug;
  return (
    <Stack gap="md" maw={560} component="section" aria-label="Stand-in provider">
      <Divider label="No provider key?" labelPosition="left" />
      {formErrors(add.error, {}).formError}
      <Text size="sm">
        For trials, this gateway has a stand-in for {name}. It returns sample responses, needs no API key and costs
        nothing.
      </Text>
      <Group>
        <RoleGuardedButton
          requiredRole="admin"
          variant="default"
          loading={add.isPending}
          onClick={() => add.mutate({ agentId, providerSlug, credentials }, { onSuccess: onDone })}
        >
          Use the stand-in provider
        </RoleGuardedButton>
      </Group>
    </Stack>
  );
}

/** For who has no key yet: what the operator has put in the place of a provider, if so. */
import { Divider, Group, Stack, Text } from '@mantine/core';
import { useConfig } from '../../api/session.js';
import { RoleGuardedButton } from '../../components/buttons/role-guarded-button.js';
import { formErrors } from '../../components/forms/form-errors.js';
import { useAddAccount, useProviders } from '../../resources/agents.js';

export function StandInProvider({ agentId, onDone }: { readonly agentId: string; readonly onDone: () => void }) {
  const [standIn] = useConfig().data?.standIns ?? [];
  const providers = useProviders();
  const add = useAddAccount();
  if (standIn === undefined) return null;
  const { providerSlug, credentials } = standIn;
  const name = providers.data?.find(({ slug }) => slug === providerSlug)?.displayName ?? providerSlug;
  return (
    <Stack gap="md" maw={560} component="section" aria-label="Stand-in">
      <Divider label="No key?" labelPosition="left" />
      {formErrors(add.error, {}).formError}
      <Text size="sm">
        On this gateway a stand-in answers for {name}, for trials: it needs no key of yours, says nothing clever and
        costs nobody anything.
      </Text>
      <Group>
        <RoleGuardedButton
          requiredRole="admin"
          variant="default"
          loading={add.isPending}
          onClick={() => add.mutate({ agentId, providerSlug, credentials }, { onSuccess: onDone })}
        >
          Use the stand-in
        </RoleGuardedButton>
      </Group>
    </Stack>
  );
}

/** Whether members may have a personal agent in the project, and which shared credentials these agents use. */
import { Card, Checkbox, Group, Skeleton, Stack, Text, Title } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { RoleGuardedButton } from '../../components/buttons/role-guarded-button.js';
import { ErrorAlert } from '../../components/feedback/error-alert.js';
import { showToast } from '../../components/feedback/toast.js';
import { Form } from '../../components/forms/form-with-server-errors.js';
import { formErrors } from '../../components/forms/server-errors-at-form-fields.js';
import { useSharedCredentials } from '../../resources/shared-credential-hooks.js';

type PersonalAgents = { credentialIds: string[] } | null;

interface PersonalAgentsSectionProps {
  readonly projectId: string;
  readonly setting: PersonalAgents;
  readonly save: (personalAgents: PersonalAgents) => Promise<unknown>;
}

const CREDENTIALS_LISTED = 100;
const LABELS = { personalAgents: 'Credentials' };

export function PersonalAgentsSection({ projectId, setting, save }: PersonalAgentsSectionProps) {
  const [allowed, setAllowed] = useState(setting !== null);
  const [credentialIds, setCredentialIds] = useState<string[]>(setting?.credentialIds ?? []);
  const credentials = useSharedCredentials(1, CREDENTIALS_LISTED);
  const change = useMutation({
    mutationFn: () => save(allowed ? { credentialIds } : null),
    onSuccess: () => showToast('Personal agents saved'),
  });
  const errors = formErrors(change.error, LABELS);
  const usable = credentials.data?.credentials.filter((one) => one.projectId === null || one.projectId === projectId);
  return (
    <Card component="section" aria-label="Personal agents" maw={760}>
      <Title order={2}>Personal agents</Title>
      <Text size="sm" c="dimmed" mb="md">
        A member gets one personal agent with the defaults of this project by “acg login” and “acg run --personal”. It
        ends with the membership, and when you switch personal agents off.
      </Text>
      <Form errors={errors} onSubmit={() => change.mutate()}>
        <Stack gap="md">
          <Checkbox
            label="Members may have a personal agent"
            checked={allowed}
            onChange={(event) => setAllowed(event.currentTarget.checked)}
          />
          {credentials.error !== null && <ErrorAlert error={credentials.error} onRetry={credentials.refetch} />}
          {usable === undefined ? (
            credentials.error === null && <Skeleton h={40} />
          ) : (
            <Checkbox.Group
              label="Shared credentials"
              description="Personal agents get an account for each credential, one per provider."
              value={credentialIds}
              onChange={setCredentialIds}
            >
              <Stack gap="xs" mt="xs">
                {usable.map(({ id, name, providerSlug }) => (
                  <Checkbox key={id} value={id} label={`${name} (${providerSlug})`} disabled={!allowed} />
                ))}
                {(credentials.data?.total ?? 0) > CREDENTIALS_LISTED && (
                  <Text size="sm">
                    The list has the first {CREDENTIALS_LISTED} shared credentials. To allow others, run “acg projects
                    set --personal-agents”.
                  </Text>
                )}
                {usable.length === 0 && <Text size="sm">No shared credential yet: add one under Providers.</Text>}
              </Stack>
            </Checkbox.Group>
          )}
        </Stack>
        <Group justify="flex-end" mt="md">
          <RoleGuardedButton requiredRole="admin" type="submit" loading={change.isPending}>
            Save personal agents
          </RoleGuardedButton>
        </Group>
      </Form>
    </Card>
  );
}

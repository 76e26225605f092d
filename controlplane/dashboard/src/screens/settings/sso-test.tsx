/** Tests single sign-on without a login: what the provider answers, and what is missing here. */
import { Card, Group, Stack, Text, Title } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { api } from '../../api/api-client.js';
import { RoleGuardedButton } from '../../components/buttons/role-guarded-button.js';
import { ErrorAlert } from '../../components/feedback/error-alert.js';
import { TestSteps } from '../../components/feedback/test-steps.js';

export function SsoTest() {
  const test = useMutation({ mutationFn: () => api.post('/v1/sso/test') });
  return (
    <Card component="section" aria-label="Test" maw={560}>
      <Title order={2} mb={4}>
        Test
      </Title>
      <Text size="sm" c="dimmed" mb="md">
        Asks the provider for its discovery document and its keys, and whether it accepts the client. Nobody is logged
        in.
      </Text>
      <Stack gap="md">
        {test.error !== null && <ErrorAlert error={test.error} />}
        {test.data !== undefined && <TestSteps steps={test.data.steps} />}
        <Group justify="flex-end">
          <RoleGuardedButton
            requiredRole="admin"
            variant="default"
            loading={test.isPending}
            onClick={() => test.mutate()}
          >
            Test settings
          </RoleGuardedButton>
        </Group>
      </Stack>
    </Card>
  );
}

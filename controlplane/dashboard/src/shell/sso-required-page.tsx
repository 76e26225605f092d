/** Replaces every screen while the organization requires single sign-on and the session was opened by a password. */
import { Alert, Button, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { api } from '../api/api-client.js';
import { showErrorToast } from '../components/feedback/toast.js';
import { PageHeader } from '../components/layout/page-header.js';

export function SsoRequiredPage({ orgName, email }: { readonly orgName: string; readonly email: string }) {
  const start = useMutation({
    mutationFn: () => api.post('/v1/sso/start', { body: { email } }),
    onSuccess: ({ url }) => window.location.assign(url),
    onError: showErrorToast,
  });
  return (
    <>
      <PageHeader title="Log in by single sign-on" />
      <Alert color="indigo" variant="light" title={`${orgName} requires single sign-on`}>
        <Stack gap="md" align="flex-start">
          <Text size="sm">Log in by the identity provider of the organization, or switch to another organization.</Text>
          <Button loading={start.isPending} onClick={() => start.mutate()}>
            Use single sign-on
          </Button>
        </Stack>
      </Alert>
    </>
  );
}

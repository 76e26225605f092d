/** Replaces every screen but the settings while the organization requires a second factor that the user does not have. */
import { Alert, Button, Stack, Text } from '@mantine/core';
import { Link } from 'wouter';
import { PageHeader } from '../components/layout/page-header.js';

export const SecondFactorMissingPage = ({ orgName }: { readonly orgName: string }) => (
  <>
    <PageHeader title="Set up a second factor" />
    <Alert color="indigo" variant="light" title={`${orgName} requires a second factor`}>
      <Stack gap="md" align="flex-start">
        <Text size="sm">
          Set up an authenticator app in your settings. You can use the organization right after it.
        </Text>
        <Button component={Link} href="/settings">
          Open settings
        </Button>
      </Stack>
    </Alert>
  </>
);

/**
 * Shown where the address names another organization than that of the session. A session belongs to one organization: a
 * link that was opened switches it once, for a member; a tab whose session was switched in another tab asks first,
 * because two tabs would switch back and forth.
 */
import { Alert, Button, Center, Group, Loader, Stack, Text } from '@mantine/core';
import { useEffect } from 'react';
import { useMe, useSwitchOrganization } from '../api/session.js';
import { ErrorAlert } from '../components/feedback/error-alert.js';
import { PageHeader } from '../components/layout/page-header.js';

interface OtherOrganizationPageProps {
  /** Of the address. */
  readonly slug: string;
  /** The page was opened at this address. */
  readonly isOpenedLink: boolean;
  /** To the start page of the session's organization. */
  readonly onLeave: () => void;
}

export function OtherOrganizationPage({ slug, isOpenedLink, onLeave }: OtherOrganizationPageProps) {
  const me = useMe().data;
  // A full load of the same address: no data of the previous organization stays in memory.
  const change = useSwitchOrganization(location.pathname + location.search);
  const current = me?.orgs.find(({ id }) => id === me.orgId);
  const wanted = me?.orgs.find((org) => org.slug === slug);
  const wantedId = wanted?.id;
  const { mutate } = change;
  useEffect(() => {
    if (isOpenedLink && wantedId !== undefined) mutate(wantedId);
  }, [isOpenedLink, wantedId, mutate]);
  const leave = (
    <Button variant="default" onClick={onLeave}>
      Open {current?.name ?? 'the dashboard'}
    </Button>
  );
  if (wanted === undefined) {
    return (
      <>
        <PageHeader title="No access to this organization" />
        <Alert color="indigo" variant="light" title={`You are not a member of ${slug}`}>
          <Stack gap="md" align="flex-start">
            <Text size="sm">
              The link belongs to an organization that does not exist or that you cannot see. Ask one of its owners for
              an invitation, or log in with the account that is a member.
            </Text>
            {leave}
          </Stack>
        </Alert>
      </>
    );
  }
  if (isOpenedLink && change.error === null) {
    return (
      <Center mih={320}>
        <Loader aria-label={`Loading ${wanted.name}`} />
      </Center>
    );
  }
  return (
    <>
      <PageHeader title={`This page belongs to ${wanted.name}`} />
      <Stack gap="md" align="flex-start">
        {change.error !== null && <ErrorAlert error={change.error} />}
        <Text size="sm">
          Your session works in {current?.name ?? 'another organization'}. Switching changes it in all tabs of this
          browser.
        </Text>
        <Group gap="sm">
          <Button loading={change.isPending} onClick={() => mutate(wanted.id)}>
            Switch to {wanted.name}
          </Button>
          {leave}
        </Group>
      </Stack>
    </>
  );
}

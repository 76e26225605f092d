/**
 * Banners for the whole page: the API does not respond, a newer version is available, or suspended items wait for
 * review.
 */
import { Alert, Button, Group, Text } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { useIsReachable } from '../api/api-reachability.js';
import { useConfig, useMe } from '../api/session.js';

const RECONNECT_MS = 3_000;
const VERSION_CHECK_MS = 300_000;

export function OutageVersionOrReviewBanner() {
  const reachable = useIsReachable();
  const config = useConfig(reachable ? VERSION_CHECK_MS : RECONNECT_MS);
  const newer = useNewerVersion(config.data?.version);
  if (!reachable) {
    return (
      <Alert color="red" variant="light" mb="lg" role="alert" title="The gateway does not respond">
        <Text size="sm">The data shown may be out of date. Retrying every {RECONNECT_MS / 1_000} seconds.</Text>
      </Alert>
    );
  }
  if (newer === null) return <SuspendedItemsBanner />;
  return (
    <Alert
      color="indigo"
      variant="light"
      mb="lg"
      role="status"
      title={newer === 'served' ? 'A newer version is available' : 'A part of this page is missing'}
    >
      <Group justify="space-between" gap="sm">
        <Text size="sm">
          {newer === 'served'
            ? 'Reload the page to use it.'
            : 'A newer version is probably available. Reload the page.'}
        </Text>
        <Button size="xs" variant="default" onClick={() => location.reload()}>
          Reload page
        </Button>
      </Group>
    </Alert>
  );
}

/** Shown to owners while suspended items wait for a decision. */
function SuspendedItemsBanner() {
  const me = useMe().data;
  const [path] = useLocation();
  const own = me?.orgs.find(({ id }) => id === me.orgId);
  if (own?.itemsSuspended !== true || own.purgeAt !== undefined || path === '/suspended') return null;
  return (
    <Alert color="orange" variant="light" mb="lg" role="status" title="Review suspended items">
      <Group justify="space-between" gap="sm">
        <Text size="sm" flex="1 1 240px">
          This account was used before its e-mail address was confirmed, possibly by another person. Items created then
          are suspended.
        </Text>
        <Button size="xs" variant="default" component={Link} href="/suspended">
          Review
        </Button>
      </Group>
    </Alert>
  );
}

/** Null: the page is up to date. */
function useNewerVersion(version: string | undefined): 'served' | 'missing' | null {
  const first = useRef<string>(undefined);
  const [missing, setMissing] = useState(false);
  first.current ??= version;
  useEffect(() => {
    // A file of this page's version no longer exists on the server.
    const markMissing = () => setMissing(true);
    addEventListener('vite:preloadError', markMissing);
    return () => removeEventListener('vite:preloadError', markMissing);
  }, []);
  if (version !== undefined && version !== first.current) return 'served';
  return missing ? 'missing' : null;
}

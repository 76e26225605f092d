/** Says on every screen what concerns all: the API does not answer, a newer version is served, or a review waits. */
import { Alert, Button, Group, Text } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { useIsReachable } from '../api/api-reachability.js';
import { useConfig, useMe } from '../api/session.js';

const RECONNECT_MS = 3_000;
const VERSION_CHECK_MS = 300_000;

export function StatusBanner() {
  const reachable = useIsReachable();
  const config = useConfig(reachable ? VERSION_CHECK_MS : RECONNECT_MS);
  const newer = useNewerVersion(config.data?.version);
  if (!reachable) {
    return (
      <Alert color="red" variant="light" mb="lg" role="alert" title="The gateway does not answer">
        <Text size="sm">What you see may be old. It is asked again every {RECONNECT_MS / 1_000} seconds.</Text>
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
      title={newer === 'served' ? 'A newer version is there' : 'A part of this page is missing'}
    >
      <Group justify="space-between" gap="sm">
        <Text size="sm">
          {newer === 'served'
            ? 'Load the page again to use it.'
            : 'A newer version is probably served: load the page again.'}
        </Text>
        <Button size="xs" variant="default" onClick={() => location.reload()}>
          Load again
        </Button>
      </Group>
    </Alert>
  );
}

/** Shown to an owner while suspended items wait. */
function SuspendedItemsBanner() {
  const me = useMe().data;
  const [path] = useLocation();
  const own = me?.orgs.find(({ id }) => id === me.orgId);
  if (own?.itemsSuspended !== true || own.purgeAt !== undefined || path === '/suspended') return null;
  return (
    <Alert color="orange" variant="light" mb="lg" role="status" title="Review what was made before">
      <Group justify="space-between" gap="sm">
        <Text size="sm" flex="1 1 240px">
          This account was used before its address was confirmed, maybe by somebody else. What was made then is
          suspended.
        </Text>
        <Button size="xs" variant="default" component={Link} href="/suspended">
          Review
        </Button>
      </Group>
    </Alert>
  );
}

/** Null: it is as it was when the page was loaded. */
function useNewerVersion(version: string | undefined): 'served' | 'missing' | null {
  const first = useRef<string>(undefined);
  const [missing, setMissing] = useState(false);
  first.current ??= version;
  useEffect(() => {
    // A file of this page's version is gone.
    const note = () => setMissing(true);
    addEventListener('vite:preloadError', note);
    return () => removeEventListener('vite:preloadError', note);
  }, []);
  if (version !== undefined && version !== first.current) return 'served';
  return missing ? 'missing' : null;
}

/**
 * Banners for the whole page: the API does not respond, or not within 3 s, data planes cannot reach their counter store, a newer
 * version is available, or suspended items wait for review.
 */
import { Alert, Button, Group, Text } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { api } from '../api/api-client.js';
import { type Outage, useOutage, useSlowSince } from '../api/api-reachability.js';
import { ME_QUERY_KEY, queryClient } from '../api/query-client.js';
import { useConfig, useMe } from '../api/session.js';
import { useQuery } from '../api/use-query.js';
import { isPreloadingWhenIdle } from '../components/layout/preload-when-idle.js';
import { formatTime } from '../format/format.js';
import { timeZoneUnit } from '../format/time-zone.js';

const RECONNECT_MS = 3_000;
const VERSION_CHECK_MS = 300_000;
const STATUS_CHECK_MS = 10_000;

const formatClock = (ms: number): string => `${formatTime(new Date(ms).toISOString())} ${timeZoneUnit(ms)}`;

const CAUSES: Readonly<Record<Outage['cause'], readonly [title: string, text: string]>> = {
  offline: ['This computer is offline', 'The data shown may be out of date.'],
  unreachable: ['The gateway does not respond', 'No control plane can be reached. The data shown may be out of date.'],
  timeout: ['The gateway does not respond', 'A request had no response in 60 s. The data shown may be out of date.'],
  database: [
    'The database of the gateway is unavailable',
    'Agents can go on calling. The data shown may be out of date, and changes fail.',
  ],
};

export function OutageVersionOrReviewBanner() {
  const outage = useOutage();
  const slowSince = useSlowSince();
  const config = useConfig(outage === null ? VERSION_CHECK_MS : RECONNECT_MS);
  const newer = useNewerVersion(config.data?.version);
  const counterStoreOutage = useCounterStoreOutage();
  useEffect(() => {
    if (outage?.cause !== 'database') return undefined;
    const timer = setInterval(() => void queryClient.refetchQueries({ queryKey: ME_QUERY_KEY }), RECONNECT_MS);
    return () => clearInterval(timer);
  }, [outage?.cause]);
  if (outage !== null) {
    const [title, text] = CAUSES[outage.cause];
    return (
      <Alert color="red" variant="light" mb="lg" role="alert" title={title}>
        <Text size="sm">
          Since {formatClock(outage.sinceMs)}. {text} Retrying every {RECONNECT_MS / 1_000} seconds.
        </Text>
      </Alert>
    );
  }
  if (slowSince !== null) {
    return (
      <Alert color="orange" variant="light" mb="lg" role="status" title="The gateway responds slowly">
        <Text size="sm">Waiting since {formatClock(slowSince)}. A part of this page has not arrived.</Text>
      </Alert>
    );
  }
  if (counterStoreOutage !== null) {
    return (
      <Alert color="red" variant="light" mb="lg" role="alert" title="The counter store does not respond">
        <Text size="sm">
          Since {formatClock(Date.parse(counterStoreOutage.since))}, at {counterStoreOutage.dataPlanes}{' '}
          {counterStoreOutage.dataPlanes === 1 ? 'data plane' : 'data planes'}. Limits are not checked there: calls of
          agents with fail-open pass unchecked, and calls of all other agents are rejected.
        </Text>
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

/** Null: the data planes reach their counter store, as far as the control plane knows. */
function useCounterStoreOutage() {
  const status = useQuery({
    queryKey: ['status'],
    queryFn: () => api.get('/v1/status'),
    refetchInterval: STATUS_CHECK_MS,
  });
  return status.data?.counterStoreOutage ?? null;
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
    const markMissing = () => {
      if (!isPreloadingWhenIdle()) setMissing(true);
    };
    addEventListener('vite:preloadError', markMissing);
    return () => removeEventListener('vite:preloadError', markMissing);
  }, []);
  if (version !== undefined && version !== first.current) return 'served';
  return missing ? 'missing' : null;
}

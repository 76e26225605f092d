/** Says on every screen what concerns all: the API does not answer, or a newer version is served. */
import { Alert, Button, Group, Text } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { useReachable } from '../api/connection.js';
import { useConfig } from '../api/session.js';

const ASK_AGAIN_MS = 3_000;
const LOOK_FOR_VERSION_MS = 300_000;

export function Banner() {
  const reachable = useReachable();
  const config = useConfig(reachable ? LOOK_FOR_VERSION_MS : ASK_AGAIN_MS);
  const newer = useNewerVersion(config.data?.version);
  if (!reachable) {
    return (
      <Alert color="red" variant="light" mb="lg" role="alert" title="The gateway does not answer">
        <Text size="sm">What you see may be old. It is asked again every {ASK_AGAIN_MS / 1_000} seconds.</Text>
      </Alert>
    );
  }
  if (newer === null) return null;
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

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
  if (!newer) return null;
  return (
    <Alert color="indigo" variant="light" mb="lg" role="status" title="A newer version is there">
      <Group justify="space-between" gap="sm">
        <Text size="sm">Load the page again to use it.</Text>
        <Button size="xs" variant="default" onClick={() => location.reload()}>
          Load again
        </Button>
      </Group>
    </Alert>
  );
}

function useNewerVersion(version: string | undefined): boolean {
  const first = useRef<string>(undefined);
  const [missing, setMissing] = useState(false);
  first.current ??= version;
  useEffect(() => {
    // A file of this page's version is gone.
    const note = () => setMissing(true);
    addEventListener('vite:preloadError', note);
    return () => removeEventListener('vite:preloadError', note);
  }, []);
  return missing || (version !== undefined && version !== first.current);
}

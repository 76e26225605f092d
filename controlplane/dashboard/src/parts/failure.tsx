/** A failure in the place of what could not be shown: what happened, what the operator finds it by, another try. */
import { Alert, Button, Code, Group, Text } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { problemOf } from '../api/problem.js';

interface FailureProps {
  readonly error: unknown;
  /** What is shown in its place was read; without it, this was to be a change. */
  readonly onRetry?: () => unknown;
}

export function Failure({ error, onRetry }: FailureProps) {
  const { text, requestId } = problemOf(error, onRetry !== undefined);
  return (
    <Alert color="red" variant="light" role="alert" title="This did not work">
      <Text size="sm" className="acg-break">
        {text}
      </Text>
      {requestId !== null && (
        <Text size="xs" mt="xs">
          Request <Code>{requestId}</Code>
        </Text>
      )}
      {onRetry !== undefined && (
        <Group mt="sm">
          <Retry onRetry={onRetry} />
        </Group>
      )}
    </Alert>
  );
}

/** Where it vanishes with what failed, the focus stays near: else whoever presses keys begins anew. */
function Retry({ onRetry }: { readonly onRetry: () => unknown }) {
  const [asking, setAsking] = useState(false);
  const near = useRef<HTMLElement | null>(null);
  useEffect(
    () => () => {
      if (document.activeElement === document.body) near.current?.focus({ preventScroll: true });
    },
    [],
  );
  const retry = async (place: HTMLElement) => {
    if (asking) return;
    near.current = place.closest<HTMLElement>('[tabindex="-1"]');
    setAsking(true);
    await onRetry();
    setAsking(false);
  };
  return (
    <Button size="xs" variant="default" aria-disabled={asking} onClick={(event) => void retry(event.currentTarget)}>
      {asking ? 'Asking again …' : 'Retry'}
    </Button>
  );
}

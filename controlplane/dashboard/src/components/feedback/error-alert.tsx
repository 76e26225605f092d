/** A failure in the place of what could not be shown: what happened, what the operator finds it by, another try. */
import { Alert, Button, Code, Group, Text } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { describeError } from '../../api/describe-error.js';

interface ErrorAlertProps {
  readonly error: unknown;
  /** What is shown in its place was read; without it, this was to be a change. */
  readonly onRetry?: () => unknown;
}

export function ErrorAlert({ error, onRetry }: ErrorAlertProps) {
  const { text, requestId } = describeError(error, onRetry !== undefined);
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
          <RetryButton onRetry={onRetry} />
        </Group>
      )}
    </Alert>
  );
}

/** Where it vanishes with what failed, the focus stays near: else whoever presses keys begins anew. */
function RetryButton({ onRetry }: { readonly onRetry: () => unknown }) {
  const [isRetrying, setAsking] = useState(false);
  const focusTarget = useRef<HTMLElement | null>(null);
  useEffect(
    () => () => {
      if (document.activeElement === document.body) focusTarget.current?.focus({ preventScroll: true });
    },
    [],
  );
  const retry = async (place: HTMLElement) => {
    if (isRetrying) return;
    focusTarget.current = place.closest<HTMLElement>('[tabindex="-1"]');
    setAsking(true);
    await onRetry();
    setAsking(false);
  };
  return (
    <Button size="xs" variant="default" aria-disabled={isRetrying} onClick={(event) => void retry(event.currentTarget)}>
      {isRetrying ? 'Asking again …' : 'Retry'}
    </Button>
  );
}

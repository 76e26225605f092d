/** Shows an error in place of the content: what happened, the request id for the operator, and a retry button. */
import { ApiError } from '@acg/client/api-errors';
import { Alert, Button, Code, Group, Text } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { describeError } from '../../api/describe-error.js';

interface ErrorAlertProps {
  readonly error: unknown;
  /** Given for failed reads; absent for failed changes. */
  readonly onRetry?: () => unknown;
}

export function ErrorAlert({ error, onRetry }: ErrorAlertProps) {
  const { text, requestId } = describeError(error, onRetry !== undefined);
  return (
    <Alert color="red" variant="light" role="alert" title="Something went wrong">
      <Text size="sm" className="acg-break-anywhere">
        {text}
      </Text>
      {requestId !== null && (
        <Text size="xs" mt="xs">
          Request <Code>{requestId}</Code>
        </Text>
      )}
      {onRetry !== undefined && canSucceedLater(error) && (
        <Group mt="sm">
          <RetryButton onRetry={onRetry} />
        </Group>
      )}
    </Alert>
  );
}

/** What the server rejects for its address, it rejects again. */
const canSucceedLater = (error: unknown): boolean =>
  !(error instanceof ApiError && (error.status === 400 || error.status === 404));

/**
 * When the button disappears with the error, the focus moves to the nearest focusable container. Otherwise a keyboard
 * user would start at the top of the page.
 */
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
      {isRetrying ? 'Retrying…' : 'Retry'}
    </Button>
  );
}

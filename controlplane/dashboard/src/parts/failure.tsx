/** A failure in the place of what could not be shown: what happened, what the operator finds it by, another try. */
import { Alert, Button, Code, Group, Text } from '@mantine/core';
import { problemOf } from '../api/problem.js';

interface FailureProps {
  readonly error: unknown;
  /** What is shown in its place was read; without it, this was to be a change. */
  readonly onRetry?: () => void;
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
          <Button size="xs" variant="default" onClick={onRetry}>
            Retry
          </Button>
        </Group>
      )}
    </Alert>
  );
}

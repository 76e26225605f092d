/** Replaces an empty list: why it is empty, and what to do. */
import { Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';

interface EmptyStateProps {
  readonly title: string;
  readonly text?: ReactNode;
  readonly action?: ReactNode;
}

export function EmptyState({ title, text, action }: EmptyStateProps) {
  return (
    <Stack align="center" gap="xs" py="xl" px="md" ta="center">
      <Text size="sm" fw={600}>
        {title}
      </Text>
      {text !== undefined && (
        <Text size="sm" c="dimmed" maw={480}>
          {text}
        </Text>
      )}
      {action}
    </Stack>
  );
}

/** Sections and rows of the definition lists in a drawer. */
import { Group, Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';

interface DetailRowProps {
  readonly label: string;
  /** Part of the row above; indented. */
  readonly isSubtotal?: boolean;
  readonly children: ReactNode;
}

export const DetailRow = ({ label, isSubtotal = false, children }: DetailRowProps) => (
  <Group justify="space-between" align="flex-start" gap="md" wrap="nowrap">
    <Text component="dt" size="sm" c="dimmed" pl={isSubtotal ? 'md' : 0}>
      {label}
    </Text>
    <Text component="dd" size="sm" m={0} ta="right" className="acg-break-anywhere acg-tabular-numbers">
      {children}
    </Text>
  </Group>
);

export const DetailSection = ({ title, children }: { readonly title: string; readonly children: ReactNode }) => (
  <section aria-label={title}>
    <Title order={3} size="sm" mb="xs">
      {title}
    </Title>
    <Stack component="dl" gap={6} m={0}>
      {children}
    </Stack>
  </section>
);

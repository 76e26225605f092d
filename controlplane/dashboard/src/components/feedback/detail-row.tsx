/** A label with its value in the definition list of a drawer. */
import { Group, Text } from '@mantine/core';
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

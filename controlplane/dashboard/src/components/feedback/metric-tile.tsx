/** A metric with its label. */
import { Card, Skeleton, Text } from '@mantine/core';
import type { ReactNode } from 'react';

interface MetricTileProps {
  readonly label: string;
  /** Undefined: loading. */
  readonly value: string | undefined;
  readonly children?: ReactNode;
}

export const MetricTile = ({ label, value, children }: MetricTileProps) => (
  <Card padding="md" component="section" aria-label={label} className="acg-metric-tile">
    <Text size="sm" c="dimmed">
      {label}
    </Text>
    {value === undefined ? (
      <Skeleton h={32} w="60%" mt={4} />
    ) : (
      <Text
        lh={1.4}
        fw={650}
        className="acg-tabular-numbers acg-metric-value"
        style={{ '--acg-character-count': value.length }}
      >
        {value}
      </Text>
    )}
    {children}
  </Card>
);

/** Facts of an object as a definition list in columns. */
import { Card, SimpleGrid, Text } from '@mantine/core';
import type { ReactNode } from 'react';

export interface Fact {
  readonly label: string;
  readonly value: ReactNode;
}

export const Facts = ({ label, facts }: { readonly label: string; readonly facts: readonly Fact[] }) => (
  <Card component="section" aria-label={label} mb="lg">
    <SimpleGrid component="dl" cols={{ base: 2, sm: 3, lg: 4 }} spacing="md" m={0}>
      {facts.map(({ label: name, value }) => (
        <div key={name}>
          <Text component="dt" size="xs" c="dimmed">
            {name}
          </Text>
          <Text component="dd" size="sm" m={0} className="acg-break-anywhere">
            {value}
          </Text>
        </div>
      ))}
    </SimpleGrid>
  </Card>
);

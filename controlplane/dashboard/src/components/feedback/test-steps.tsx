/** The answer of each step of a credential test: the exchange, then the call. */
import { List, Text } from '@mantine/core';
import { StatusBadge } from './status-badge.js';

interface TestStepsProps {
  readonly steps: readonly { readonly name: string; readonly ok: boolean; readonly message: string }[];
}

export const TestSteps = ({ steps }: TestStepsProps) => (
  <List type="ordered" size="sm" spacing={6} aria-label="Steps of the test" className="acg-break-anywhere">
    {steps.map(({ name, ok, message }) => (
      <List.Item key={name}>
        {name}: <StatusBadge tone={ok ? 'success' : 'error'}>{ok ? 'passed' : 'failed'}</StatusBadge>
        <Text size="sm" c="dimmed">
          {message}
        </Text>
      </List.Item>
    ))}
  </List>
);

/** What each step of a test found, and what to do. */
import { List, Text } from '@mantine/core';
import { StatusBadge } from './status-badge.js';

interface TestStep {
  readonly name: string;
  /** Null: the test cannot tell. */
  readonly ok: boolean | null;
  readonly message: string;
  readonly action?: string | null;
}

export const TestSteps = ({ steps }: { readonly steps: readonly TestStep[] }) => (
  <List type="ordered" size="sm" spacing={6} aria-label="Steps of the test" className="acg-break-anywhere">
    {steps.map(({ name, ok, message, action }) => (
      <List.Item key={name}>
        {name}:{' '}
        <StatusBadge tone={ok === null ? 'neutral' : ok ? 'success' : 'error'}>
          {ok === null ? 'not tested' : ok ? 'passed' : 'failed'}
        </StatusBadge>
        <Text size="sm" c="dimmed">
          {message}
        </Text>
        {typeof action === 'string' && <Text size="sm">{action}</Text>}
      </List.Item>
    ))}
  </List>
);

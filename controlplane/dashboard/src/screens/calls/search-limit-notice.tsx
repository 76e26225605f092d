/** How far back a search has looked that was given up there, and how it goes on. */
import { Button, Group, Text } from '@mantine/core';
import { CallTime } from './call-time.js';

interface SearchLimitNoticeProps {
  readonly at: string;
  readonly found: number;
  readonly onSearchOlder: () => void;
}

export function SearchLimitNotice({ at, found, onSearchOlder: onFurther }: SearchLimitNoticeProps) {
  return (
    <Group gap="md" mb="sm" role="status">
      <Text size="sm">
        {found === 0 ? 'None' : found} of the calls since <CallTime at={at} />. Older ones were not looked at.
      </Text>
      <Button size="compact-sm" variant="default" onClick={onFurther}>
        Look further back
      </Button>
    </Group>
  );
}

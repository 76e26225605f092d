/** Shows how far back a search has looked, with a button to continue it. */
import { Button, Group, Text } from '@mantine/core';
import { CallTime } from './call-time.js';

interface SearchLimitNoticeProps {
  readonly at: string;
  readonly found: number;
  readonly onSearchOlder: () => void;
}

export function SearchLimitNotice({ at, found, onSearchOlder }: SearchLimitNoticeProps) {
  return (
    <Group gap="md" mb="sm" role="status">
      <Text size="sm">
        {found === 0 ? 'No' : found} matches since <CallTime at={at} />. Older calls were not searched.
      </Text>
      <Button size="compact-sm" variant="default" onClick={onSearchOlder}>
        Search older calls
      </Button>
    </Group>
  );
}

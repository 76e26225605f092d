/** The controls below a list: numbered pages, or pages that a cursor separates. */
import { Button, Group, Pagination, Text } from '@mantine/core';
import { formatCount } from '../../format/format.js';
import type { CursorPaging, Paging } from './data-table-types.js';

export function PagingBar({
  page,
  pageSize,
  total,
  capped = false,
  onPage,
  shown,
  label,
}: Paging & { readonly shown: number; readonly label: string }) {
  const first = (page - 1) * pageSize + 1;
  return (
    <Group justify="space-between" gap="sm">
      <Text size="sm" c="dimmed" className="acg-tabular-numbers">
        {formatCount(first)}–{formatCount(first + shown - 1)} of {capped ? 'more than ' : ''}
        {formatCount(total)}
      </Text>
      {total > pageSize && (
        <Pagination
          size="sm"
          value={page}
          onChange={onPage}
          total={Math.ceil(total / pageSize)}
          siblings={1}
          boundaries={1}
          getControlProps={(control) => ({ 'aria-label': `${label}: ${control} page` })}
          getItemProps={(number) => ({ 'aria-label': `${label}: page ${number}` })}
        />
      )}
    </Group>
  );
}

interface CursorBarProps extends CursorPaging {
  readonly label: string;
}

/** Pages that do not exist have no button, except for older ones: a disabled button shows the end of the list. */
export const CursorBar = ({ onNewest, onNewer, onOlder, label }: CursorBarProps) => (
  <Group component="nav" aria-label={`${label}: pages`} gap="xs">
    {onNewest !== null && (
      <Button size="compact-sm" variant="default" onClick={onNewest}>
        Newest
      </Button>
    )}
    {onNewer !== null && (
      <Button size="compact-sm" variant="default" onClick={onNewer}>
        Newer
      </Button>
    )}
    {(onOlder !== null || onNewest !== null) && (
      <Button size="compact-sm" variant="default" disabled={onOlder === null} onClick={() => onOlder?.()}>
        Older
      </Button>
    )}
  </Group>
);

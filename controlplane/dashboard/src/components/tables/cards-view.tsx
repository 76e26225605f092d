/** A list on a small screen: one card for each row. */
import { Group, NativeSelect, Stack, Text } from '@mantine/core';
import { ACTIONS_HEADER, type ListProps } from './data-table-types.js';
import { RowCheckbox, RowLink } from './row-parts.js';

export function CardsView<Data, Row>({
  label,
  list,
  columns,
  rowKey,
  href,
  selection,
  sorting,
  footerCells,
}: ListProps<Data, Row>) {
  const sortable = columns.filter(({ sortKey }) => sortKey !== undefined);
  const [title, ...others] = columns;
  return (
    <>
      {sorting !== undefined && sortable.length > 0 && (
        <NativeSelect
          label="Sort by"
          p="md"
          pb={0}
          data={sortable.map(({ sortKey, header }) => ({ value: sortKey!, label: header }))}
          value={sorting.sort}
          onChange={({ currentTarget: { value } }) =>
            sorting.onSort(value, sortable.find(({ sortKey }) => sortKey === value)?.numeric === true ? 'desc' : 'asc')
          }
        />
      )}
      <ul className="acg-plain-list" aria-label={label}>
        {list.map((row) => (
          <li className="acg-card-list-item" key={rowKey(row)}>
            <Group gap="sm" mb="xs" wrap="nowrap" align="flex-start">
              {selection !== undefined && <RowCheckbox row={row} selection={selection} />}
              <Text component="div" size="sm" fw={600} className="acg-break-anywhere">
                {href === undefined ? title?.cell(row) : <RowLink to={href(row)}>{title?.cell(row)}</RowLink>}
              </Text>
            </Group>
            <Stack gap={6}>
              {others
                .filter(({ header, cell }) => header !== ACTIONS_HEADER || cell(row) !== false)
                .map(({ header, cell, numeric }) => (
                  <Group key={header} justify="space-between" align="flex-start" wrap="nowrap" gap="md">
                    <span className="acg-label">{header}</span>
                    <Text
                      component="div"
                      size="sm"
                      ta="right"
                      className={`acg-break-anywhere${numeric === true ? ' acg-tabular-numbers' : ''}`}
                    >
                      {cell(row)}
                    </Text>
                  </Group>
                ))}
            </Stack>
          </li>
        ))}
        {footerCells !== null && (
          <li className="acg-card-list-item">
            <Stack gap={6}>
              {columns
                .filter(({ header }) => footerCells[header] !== undefined)
                .map(({ header }) => (
                  <Group key={header} justify="space-between" wrap="nowrap" gap="md">
                    <span className="acg-label">{header}</span>
                    <Text component="div" size="sm" fw={600} ta="right" className="acg-tabular-numbers">
                      {footerCells[header]}
                    </Text>
                  </Group>
                ))}
            </Stack>
          </li>
        )}
      </ul>
    </>
  );
}

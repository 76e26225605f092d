/**
 * A list on a small screen: one card of at most 96 px for each row, with its title and the first values that are set.
 * Columns with `wraps` make it higher. A button opens all values and actions of a row.
 */
import { ActionIcon, Group, NativeSelect, Stack, Text } from '@mantine/core';
import { ChevronDown, ChevronUp } from 'lucide-react';
import { type ReactNode, useId, useState } from 'react';
import { useLocation } from 'wouter';
import { NO_VALUE } from '../../format/format.js';
import { ACTIONS_HEADER, type Column, type ListProps, type Selection } from './data-table-types.js';
import { isPlainClick, RowCheckbox, RowLink } from './row-parts.js';

/** More do not fit into two lines. */
const SUMMARY_VALUES = 4;

export function CardsView<Data, Row>(props: ListProps<Data, Row>) {
  const { label, list, columns, rowKey, href, selection, sorting, footerCells } = props;
  const sortable = columns.filter(({ sortKey }) => sortKey !== undefined);
  return (
    <>
      {sorting !== undefined && sortable.length > 0 && (
        <NativeSelect
          label="Sort by"
          p="md"
          data={[
            ...(sorting.sort === '' ? [{ value: '', label: 'Default' }] : []),
            ...sortable.map(({ sortKey, header }) => ({ value: sortKey!, label: header })),
          ]}
          value={sorting.sort}
          onChange={({ currentTarget: { value } }) =>
            sorting.onSort(value, sortable.find(({ sortKey }) => sortKey === value)?.numeric === true ? 'desc' : 'asc')
          }
        />
      )}
      <ul className="acg-plain-list" aria-label={label}>
        {list.map((row) => (
          <RowCard key={rowKey(row)} row={row} columns={columns} href={href?.(row)} selection={selection} />
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

interface RowCardProps<Row> {
  readonly row: Row;
  readonly columns: readonly Column<Row>[];
  readonly href: string | undefined;
  readonly selection: Selection<Row> | undefined;
}

function RowCard<Row>({ row, columns, href, selection }: RowCardProps<Row>) {
  const [isOpen, setOpen] = useState(false);
  const titleId = useId();
  const [title, ...others] = columns;
  const cells = others
    .map((column) => ({ ...column, content: column.cell(row) }))
    .filter(({ header, content }) => header !== ACTIONS_HEADER || content !== false);
  const shown = cells.filter(({ header, content }) => header !== ACTIONS_HEADER && isSet(content));
  const summary = shown.filter(({ wraps }) => wraps !== true).slice(0, SUMMARY_VALUES);
  const [, navigate] = useLocation();
  const open = (): void => {
    if (href !== undefined) navigate(href);
    else if (cells.length > 0) setOpen(!isOpen);
  };
  const Icon = isOpen ? ChevronUp : ChevronDown;
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the link and the button of the card do the same by keyboard
    <li
      className="acg-card-list-item"
      style={{ cursor: 'pointer' }}
      onClick={({ target }) => {
        if (isPlainClick(target as Element)) open();
      }}
    >
      <Group gap="sm" wrap="nowrap" mih={28}>
        {selection !== undefined && <RowCheckbox row={row} selection={selection} />}
        <Text
          component="div"
          id={titleId}
          size="sm"
          fw={600}
          flex={1}
          miw={0}
          className={isOpen ? 'acg-break-anywhere' : 'acg-card-line'}
        >
          {href === undefined ? title?.cell(row) : <RowLink to={href}>{title?.cell(row)}</RowLink>}
        </Text>
        {cells.length > 0 && (
          <ActionIcon
            variant="subtle"
            color="gray"
            size={28}
            aria-expanded={isOpen}
            aria-label="Details"
            aria-describedby={titleId}
            onClick={() => setOpen(!isOpen)}
          >
            <Icon size={16} aria-hidden />
          </ActionIcon>
        )}
      </Group>
      {isOpen ? (
        <Stack gap={6} mt="xs">
          {cells.map(({ header, content, numeric }) => (
            <Group key={header} justify="space-between" align="flex-start" wrap="nowrap" gap="md">
              <span className="acg-label">{header}</span>
              <Text
                component="div"
                size="sm"
                ta="right"
                className={`acg-break-anywhere${numeric === true ? ' acg-tabular-numbers' : ''}`}
              >
                {content}
              </Text>
            </Group>
          ))}
        </Stack>
      ) : (
        <>
          <div className="acg-card-summary">
            {summary.map(({ header, content, numeric }) => (
              <div key={header} className="acg-card-value">
                <span className="acg-label">{header}</span>
                <div className={numeric === true ? 'acg-card-line acg-tabular-numbers' : 'acg-card-line'}>
                  {content}
                </div>
              </div>
            ))}
          </div>
          {shown.map(
            ({ header, content, wraps }) =>
              wraps === true && (
                <div key={header} className="acg-card-text">
                  {content}
                </div>
              ),
          )}
        </>
      )}
    </li>
  );
}

const isSet = (content: ReactNode): boolean =>
  content !== null && content !== undefined && content !== false && content !== '' && content !== NO_VALUE;

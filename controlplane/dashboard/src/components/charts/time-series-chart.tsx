/** A chart over time with a title, a legend, and the same figures as a table. */
import { Box, Button, Card, Group, ScrollArea, Skeleton, Table, Text, Title, UnstyledButton } from '@mantine/core';
import { useMemo, useState } from 'react';
import { bucketStartMs, bucketUnit, formatBucket, NO_VALUE } from '../../format/format.js';
import { EmptyState } from '../feedback/empty-state.js';
import { staleProps } from '../feedback/stale-props.js';
import { lazyComponent } from '../layout/lazy-component-no-suspense-delay.js';
import { type ChartProps, colorOf } from './chart-props-and-colors.js';
import { NONE_HIDDEN, selectShown, toggleSeries, type Zoom } from './shown-part-of-chart.js';

const CHART_HEIGHT = 220;
const Canvas = lazyComponent(
  async () => (await import('./chart-canvas.js')).ChartCanvas,
  <Skeleton h={CHART_HEIGHT} />,
);
// With the screen, not after its data.
void Canvas.preload();

const NO_LINES: NonNullable<ChartProps['lines']> = [];

export function TimeSeriesChart(props: ChartProps) {
  const { title, buckets, interval, series, format, stale = false, height = CHART_HEIGHT, lines = NO_LINES } = props;
  const [asTable, setAsTable] = useState(false);
  const [hidden, setHidden] = useState<ReadonlySet<string>>(NONE_HIDDEN);
  const [zoom, setZoom] = useState<Zoom | null>(null);
  const shown = useMemo(
    () => selectShown({ buckets, series, lines }, hidden, zoom),
    [buckets, series, lines, hidden, zoom],
  );
  const unit = bucketUnit(interval, bucketStartMs(buckets.at(-1) ?? ''));
  const empty = series.every(({ values }) => values.every((value) => value === 0));
  return (
    <Card component="section" aria-label={title} {...staleProps(stale)}>
      <Group justify="space-between" mb="md" wrap="nowrap">
        <Title order={2}>{title}</Title>
        {!empty && (
          <Group gap="xs" wrap="nowrap" flex="none">
            {shown.isZoomed && !asTable && (
              <Button size="compact-xs" variant="default" onClick={() => setZoom(null)}>
                Reset zoom
              </Button>
            )}
            <Button size="compact-xs" variant="subtle" aria-pressed={asTable} onClick={() => setAsTable(!asTable)}>
              {asTable ? 'Show as chart' : 'Show as table'}
            </Button>
          </Group>
        )}
      </Group>
      {empty && <EmptyState title="No traffic in this period" />}
      {!empty && asTable && (
        <ScrollArea.Autosize
          mah={320}
          viewportProps={{ tabIndex: 0, role: 'region', 'aria-label': `${title}, figures` }}
        >
          <Table className="acg-table acg-tabular-numbers" verticalSpacing="xs">
            <Table.Thead>
              <Table.Tr>
                <Table.Th>
                  {interval === 'day' ? 'Day' : 'Hour'} ({unit})
                </Table.Th>
                {[...series, ...lines].map(({ label }) => (
                  <Table.Th key={label} ta="right">
                    {label}
                  </Table.Th>
                ))}
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {buckets.map((bucket, i) => (
                <Table.Tr key={bucket}>
                  <Table.Td>{formatBucket(bucketStartMs(bucket), interval)}</Table.Td>
                  {series.map(({ label, values }) => (
                    <Table.Td key={label} ta="right">
                      {format(values[i] ?? 0)}
                    </Table.Td>
                  ))}
                  {lines.map(({ label, values }) => (
                    <Table.Td key={label} ta="right">
                      {formatNullable(format, values[i])}
                    </Table.Td>
                  ))}
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </ScrollArea.Autosize>
      )}
      {!empty && !asTable && (
        <>
          <Canvas
            {...props}
            buckets={shown.buckets}
            series={shown.series}
            lines={shown.lines}
            height={height}
            onRange={props.onRange ?? ((first, last) => setZoom({ first, last }))}
          />
          <Group gap="md" mt="sm">
            {series.length + lines.length > 1 &&
              series.map(({ label }, i) => (
                <UnstyledButton
                  key={label}
                  className="acg-legend-item"
                  aria-pressed={!hidden.has(label)}
                  disabled={series.length === 1}
                  onClick={() => setHidden(toggleSeries(series, hidden, label))}
                >
                  <Box component="span" w={10} h={10} bg={colorOf(series, i)} bdrs={3} aria-hidden />
                  {label}
                </UnstyledButton>
              ))}
            {lines.map(({ label, color }) => (
              <Group key={label} gap={6} wrap="nowrap">
                <Box w={14} h={0} bd={`1px dashed ${color}`} aria-hidden />
                <Text size="xs">{label}</Text>
              </Group>
            ))}
            <Text size="xs" c="dimmed">
              {interval === 'day' ? 'Days' : 'Hours'} are {unit}. {props.note}
            </Text>
          </Group>
        </>
      )}
    </Card>
  );
}

const formatNullable = (format: (value: number) => string, value: number | null | undefined): string =>
  value === null || value === undefined ? NO_VALUE : format(value);

/** The canvas of a chart, in its own module so that the chart library is loaded only where a chart is shown. */
import { Box, useComputedColorScheme } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { bucketStartMs, bucketUnit, formatBucket } from '../../format/format.js';
import { chosenTimeZone } from '../../format/time-zone.js';
import { type ChartProps, colorOf } from './chart-props-and-colors.js';

/** Colours of axes and grid; the library's default is black in both themes. */
const AXIS_COLORS = { light: '#495057', dark: '#b8b8b8' } as const;
const GRID_COLORS = { light: '#e9ecef', dark: '#3b3b3b' } as const;
/** A shorter drag is a click. */
const DRAG_PIXELS_MIN = 6;
/** Pixels between the cursor and the tooltip. */
const TOOLTIP_GAP = 12;
const AXIS_WIDTH = 48;
/** Width of one character of the axes' font, with the space around the label. */
const CHARACTER_WIDTH = 8;
const AXIS_HEIGHT = 28;
/** Without this gap the first label of the x axis overlaps the lowest label of the y axis. */
const AXIS_GAP = 12;
/** Half of the widest label, which is centred below the last bar. */
const LABEL_ROOM = 44;
const BUCKET_SECONDS = { hour: 3_600, day: 86_400 } as const;
/** Steps of the x axis. Shorter ones would repeat the label of a day; the library starts those of 30 days at a month. */
const DAY_STEPS = [1, 2, 3, 4, 5, 7, 10, 15, 30, 60, 90, 180, 365].map((days) => days * BUCKET_SECONDS.day);
const BAR_WIDTH_RATIO = 0.7;
const BAR_WIDTH_MAX = 48;
const NO_LINES: NonNullable<ChartProps['lines']> = [];
const INTEGER_STEPS = [1, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9].flatMap((step) => [step, 2 * step, 5 * step]);

export function ChartCanvas({
  title,
  buckets,
  interval,
  series,
  lines = NO_LINES,
  format,
  axis: formatTick = format,
  kind = 'bars',
  height,
  onBucket,
  onRange,
}: ChartProps & Required<Pick<ChartProps, 'height' | 'onRange'>>) {
  const container = useRef<HTMLDivElement>(null);
  const scheme = useComputedColorScheme('light');
  const handleRange = useRef(onRange);
  handleRange.current = onRange;
  /** The browser sends a click at the end of a drag, too. */
  const isDragEnd = useRef(false);
  const [hovered, setHovered] = useState<{ readonly index: number; readonly left: number } | null>(null);
  useEffect(() => {
    const element = container.current;
    if (element === null) return;
    const axis: uPlot.Axis = {
      stroke: AXIS_COLORS[scheme],
      font: '12px "Inter Variable", system-ui',
      grid: { stroke: GRID_COLORS[scheme], width: 1 },
      ticks: { show: false },
    };
    const halfBucketSeconds = BUCKET_SECONDS[interval] / 2;
    const plottedValues =
      kind === 'bars' ? stackSeries(series.map(({ values }) => values)) : series.map(({ values }) => values);
    let plot: uPlot | null = null;
    const draw = (): uPlot =>
      new uPlot(
        {
          width: element.clientWidth,
          height,
          padding: [8, interval === 'hour' ? LABEL_ROOM : null, null, null],
          legend: { show: false },
          cursor: {
            y: false,
            // The library would swallow a click whose pointer moved by one pixel.
            drag: { x: true, y: false, setScale: false, dist: DRAG_PIXELS_MIN, click: () => {} },
          },
          // Ticks lie at full hours and midnights of the zone of the labels.
          ...(interval === 'hour' && chosenTimeZone() === undefined
            ? {}
            : { tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1_000), 'UTC') }),
          // Half a bucket of space at each end, so that the outer bars are complete and lines keep clear of the axis.
          scales: {
            x: { range: (_plot, min, max) => [min - halfBucketSeconds, max + halfBucketSeconds] },
            y: { range: (_plot, _min, max) => [0, max === 0 ? 1 : max * 1.08] },
          },
          axes: [
            {
              ...axis,
              size: AXIS_HEIGHT,
              gap: AXIS_GAP,
              grid: { show: false },
              values: (_plot, ticks) => ticks.map((tick) => formatBucket(tick * 1_000, interval)),
              space: interval === 'day' ? 60 : 100,
              ...(interval === 'day' ? { incrs: DAY_STEPS } : {}),
            },
            {
              ...axis,
              size: (_plot, labels) =>
                Math.max(AXIS_WIDTH, ...(labels ?? []).map(({ length }) => length * CHARACTER_WIDTH)),
              values: (_plot, ticks, _axis, _space, step) =>
                blankRepeatedLabels(ticks.map((value) => formatTick(value, step))),
              // Counts have no fractions: the axis uses whole steps.
              ...(plottedValues.every((values) => values.every((value) => value === null || Number.isInteger(value)))
                ? { incrs: INTEGER_STEPS }
                : {}),
            },
          ],
          // The tallest sums are drawn first, so that the lower ones are painted over them.
          series: [
            {},
            ...plottedValues.map((_, i) => seriesStyle(colorOf(series, series.length - 1 - i), kind, buckets.length)),
            ...lines.map(({ color }) => ({ stroke: color, width: 2, dash: [6, 4], points: { show: false } })),
          ],
          hooks: {
            setSelect: [
              ({ select: { left, width }, posToIdx, setSelect }) => {
                if (width === 0) return;
                isDragEnd.current = true;
                const [first, last] = [buckets[posToIdx(left)], buckets[posToIdx(left + width)]];
                setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
                if (first !== undefined && last !== undefined) handleRange.current(first, last, interval);
              },
            ],
            setCursor: [
              ({ cursor, bbox }) => {
                const index = cursor.idx ?? null;
                const left = (cursor.left ?? 0) + bbox.left / devicePixelRatio;
                setHovered(index === null || (cursor.left ?? -1) < 0 ? null : { index, left });
              },
            ],
          },
        },
        [
          buckets.map((bucket) => bucketStartMs(bucket) / 1_000),
          ...[...plottedValues].reverse().map((values) => [...values]),
          ...lines.map(({ values }) => [...values]),
        ],
        element,
      );
    // Also called once at the start, when the width is known without a layout of the page in between.
    const observer = new ResizeObserver(() => {
      if (plot === null) plot = draw();
      else plot.setSize({ width: element.clientWidth, height });
    });
    observer.observe(element);
    return () => {
      observer.disconnect();
      plot?.destroy();
    };
  }, [buckets, height, interval, kind, lines, scheme, series, formatTick]);
  const bucket = hovered === null ? undefined : buckets[hovered.index];
  // Only under the cursor: reading it makes the browser lay out the whole page, at each rendering.
  const width = hovered === null ? 0 : (container.current?.clientWidth ?? 0);
  return (
    <figure style={{ margin: 0, position: 'relative' }}>
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: the fields of the time do the same by keyboard */}
      <div
        ref={container}
        role="img"
        aria-label={`${title}. The table shows the same figures.`}
        style={onBucket === undefined ? { height } : { height, cursor: 'pointer' }}
        onPointerDown={() => {
          isDragEnd.current = false;
        }}
        onClick={() => !isDragEnd.current && bucket !== undefined && onBucket?.(bucket, interval)}
      />
      {bucket !== undefined && hovered !== null && (
        <figcaption
          className="acg-chart-tooltip acg-tabular-numbers"
          aria-hidden
          // Beside the cursor, on the side with more room.
          style={
            hovered.left > width / 2
              ? { right: width - hovered.left + TOOLTIP_GAP }
              : { left: hovered.left + TOOLTIP_GAP }
          }
        >
          <strong>
            {formatBucket(bucketStartMs(bucket), interval)} {bucketUnit(interval, bucketStartMs(bucket))}
          </strong>
          {kind === 'bars' && series.length > 1 && (
            <span>Total: {format(series.reduce((sum, { values }) => sum + (values[hovered.index] ?? 0), 0))}</span>
          )}
          {series
            .map(({ label, values }, i) => ({ label, value: values[hovered.index] ?? 0, color: colorOf(series, i) }))
            .filter(({ value }) => value !== 0 || series.length === 1)
            .toSorted((a, b) => b.value - a.value)
            .map(({ label, value, color }) => (
              <span key={label}>
                <Box component="span" display="inline-block" w={8} h={8} mr={6} bg={color} bdrs={2} />
                {label}: {format(value)}
              </span>
            ))}
          {lines.map(({ label, values, color }) => {
            const value = values[hovered.index] ?? null;
            return (
              value !== null && (
                <span key={label}>
                  <Box component="span" display="inline-block" w={8} h={2} mr={6} mb={3} bg={color} />
                  {label}: {format(value)}
                </span>
              )
            );
          })}
        </figcaption>
      )}
    </figure>
  );
}

/** Amounts too close to tell apart would repeat one label; only the first is kept. */
const blankRepeatedLabels = (labels: readonly string[]): string[] =>
  labels.map((label, i) => (label === labels[i - 1] ? '' : label));

/**
 * Stacks each series on the ones before it. Zero becomes null, because a zero bar would shine through at the edges of
 * the bars below.
 */
function stackSeries(all: readonly (readonly number[])[]): readonly (readonly (number | null)[])[] {
  const heights: number[] = [];
  return all.map((values) =>
    values.map((value, i) => {
      heights[i] = (heights[i] ?? 0) + value;
      return value === 0 ? null : heights[i]!;
    }),
  );
}

function seriesStyle(color: string, kind: 'bars' | 'line', points: number): uPlot.Series {
  // A line with one point is invisible, so the point is drawn.
  if (kind === 'line') return { stroke: color, width: 2, points: { show: points === 1 } };
  return {
    stroke: color,
    fill: color,
    width: 0,
    points: { show: false },
    paths: uPlot.paths.bars!({ size: [BAR_WIDTH_RATIO, BAR_WIDTH_MAX], radius: 0.1 }),
  };
}

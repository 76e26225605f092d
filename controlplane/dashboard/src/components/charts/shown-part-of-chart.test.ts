import { expect, test } from 'vitest';
import { colorOf } from './chart-props-and-colors.js';
import { NONE_HIDDEN, selectShown, toggleSeries } from './shown-part-of-chart.js';

const series = [
  { label: 'a', values: [1, 2, 3, 4] },
  { label: 'b', values: [5, 6, 7, 8] },
];
const chart = {
  buckets: ['h0', 'h1', 'h2', 'h3'],
  series,
  lines: [{ label: 'l', values: [1, null, 3, 4], color: '#000' }],
};

test('a zoom cuts buckets, series and lines alike, with both ends', () => {
  const shown = selectShown(chart, NONE_HIDDEN, { first: 'h1', last: 'h2' });
  expect(shown.isZoomed).toBe(true);
  expect(shown.buckets).toEqual(['h1', 'h2']);
  expect(shown.series.map(({ values }) => values)).toEqual([
    [2, 3],
    [6, 7],
  ]);
  expect(shown.lines[0]?.values).toEqual([null, 3]);
});

test.each([[null], [{ first: 'gone', last: 'h2' }], [{ first: 'h1', last: 'gone' }]])(
  'the zoom %o shows everything',
  (zoom) => {
    const shown = selectShown(chart, NONE_HIDDEN, zoom);
    expect([shown.isZoomed, shown.buckets, shown.series[1]?.values]).toEqual([false, chart.buckets, [5, 6, 7, 8]]);
  },
);

test('a hidden series is not drawn, and the others keep their colours', () => {
  const hidden = toggleSeries(series, NONE_HIDDEN, 'a');
  expect(selectShown(chart, hidden, null).series.map(({ label, color }) => [label, color])).toEqual([
    ['b', colorOf(series, 1)],
  ]);
  expect(toggleSeries(series, hidden, 'a').size).toBe(0);
});

test('hiding the last visible series shows all again', () => {
  expect(toggleSeries(series, toggleSeries(series, NONE_HIDDEN, 'a'), 'b')).toBe(NONE_HIDDEN);
});

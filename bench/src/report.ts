/** Writes the results of a run under bench/results/: JSON, and a small HTML page with bar charts (SVG). */
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus, release, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';

interface Bar {
  readonly label: string;
  readonly value: number;
}

export interface Chart {
  readonly title: string;
  readonly unit: string;
  readonly bars: readonly Bar[];
}

/** A part of the page. */
export interface Section {
  readonly title: string;
  readonly charts: readonly Chart[];
  readonly notes: readonly string[];
}

const DIRECTORY = fileURLToPath(new URL('../results/', import.meta.url));
const BAR_HEIGHT = 26;
const LABEL_WIDTH = 190;
const PLOT_WIDTH = 480;

export const machine = () => ({
  node: process.version,
  cpu: `${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}`,
  memoryGiB: Math.round(totalmem() / 2 ** 30),
  kernel: release(),
});

/** Returns the paths written. */
export function writeReport(name: string, figures: unknown, sections: readonly Section[]): readonly string[] {
  mkdirSync(DIRECTORY, { recursive: true });
  const at = new Date().toISOString();
  const json = `${DIRECTORY}${name}.json`;
  const html = `${DIRECTORY}${name}.html`;
  writeFileSync(json, `${JSON.stringify({ at, machine: machine(), figures }, null, 2)}\n`);
  writeFileSync(
    html,
    `<!doctype html><meta charset="utf-8"><title>${name}</title><style>body{font:14px sans-serif;margin:2rem}</style>
<h1>${name}, ${at}</h1><p>${Object.values(machine()).map(String).map(escapeHtml).join(' · ')}</p>
${sections.map(print).join('\n')}\n`,
  );
  return [json, html];
}

function print({ title, charts, notes }: Section): string {
  const list = notes.map((note) => `<li>${escapeHtml(note)}</li>`).join('');
  return `<h1>${escapeHtml(title)}</h1>${charts.map(draw).join('\n')}<ul>${list}</ul>`;
}

function draw({ title, unit, bars }: Chart): string {
  const most = Math.max(...bars.map((bar) => bar.value), 1e-9);
  const rows = bars.map((bar, i) => {
    const y = i * BAR_HEIGHT;
    const width = Math.max(1, (bar.value / most) * PLOT_WIDTH);
    return (
      `<text x="0" y="${y + 17}">${escapeHtml(bar.label)}</text>` +
      `<rect x="${LABEL_WIDTH}" y="${y + 4}" width="${width.toFixed(1)}" height="${BAR_HEIGHT - 8}" fill="#3b6ea5"/>` +
      `<text x="${(LABEL_WIDTH + width + 6).toFixed(1)}" y="${y + 17}">${bar.value.toFixed(1)} ${escapeHtml(unit)}</text>`
    );
  });
  return `<h2>${escapeHtml(title)}</h2><svg width="${LABEL_WIDTH + PLOT_WIDTH + 120}" height="${bars.length * BAR_HEIGHT}">${rows.join('')}</svg>`;
}

const escapeHtml = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

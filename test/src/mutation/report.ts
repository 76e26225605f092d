/** Formats the results of a run as Markdown. */
import type { Mutant } from './mutant.js';

/**
 * `not compiled`: no test fails, but the compiler rejects the change. `untested`: no test file loads the source. Neither
 * counts in the score.
 */
const VERDICTS = ['killed', 'timeout', 'survived', 'not compiled', 'untested'] as const;

export interface Result extends Mutant {
  readonly verdict: (typeof VERDICTS)[number];
  /** Tests that ran; the last one killed the mutant. */
  readonly tests: readonly string[];
}

/** Killed share of the mutants that count, in percent; 100 without any. A timeout counts as killed. */
export function computeScore(results: readonly Result[]): number {
  const killed = results.filter(({ verdict }) => verdict === 'killed' || verdict === 'timeout').length;
  const survived = results.filter(({ verdict }) => verdict === 'survived').length;
  return killed + survived === 0 ? 100 : (100 * killed) / (killed + survived);
}

const formatCode = (text: string): string => `\`${text.replaceAll(/\s+/g, ' ').replaceAll('`', "'") || ' '}\``;

export const formatMutant = ({ file, line, operator, original, replacement }: Mutant): string =>
  `\`${file}:${line}\` ${operator}: ${formatCode(original)} → ${formatCode(replacement)}`;

const formatRow = (name: string, results: readonly Result[]): string => {
  const counts = VERDICTS.map((wanted) => results.filter(({ verdict }) => verdict === wanted).length);
  return `| ${[name, results.length, ...counts, computeScore(results).toFixed(1)].join(' | ')} |`;
};

export function formatReport(results: readonly Result[]): string {
  const files = [...new Set(results.map(({ file }) => file))].sort();
  const ofFile = (name: string): readonly Result[] => results.filter(({ file }) => file === name);
  const survivors = results.filter(({ verdict }) => verdict === 'survived');
  return [
    `| file | mutants | ${VERDICTS.join(' | ')} | score % |`,
    `|---|${'---|'.repeat(VERDICTS.length + 2)}`,
    ...files.map((name) => formatRow(name, ofFile(name))),
    formatRow('all', results),
    '',
    ...survivors.map((result) => `- ${formatMutant(result)}; passed: ${result.tests.join(', ')}`),
    '',
  ].join('\n');
}

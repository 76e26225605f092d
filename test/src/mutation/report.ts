/** What came of the planted bugs, as Markdown. */
import type { Area, Mutant } from './mutant.js';
import type { Verdict } from './tree.js';

export interface Judged {
  readonly area: string;
  readonly mutant: Mutant;
  readonly verdict: Verdict;
}

interface Report {
  readonly text: string;
  /** Of all that is not equivalent, in percent. */
  readonly killedPercent: number;
  /** Mutants that could not be planted: the list must follow the code. */
  readonly unusable: number;
}

const place = ({ file, bug }: Mutant): string => `\`${file}\`: ${bug.replaceAll('|', '\\|')}`;

export function writeReport(areas: readonly Area[], judged: readonly Judged[]): Report {
  const count = (area: string | null, verdict: Verdict): number =>
    judged.filter((one) => (area === null || one.area === area) && one.verdict === verdict).length;
  const rows = areas.map(({ name, mutants }) => {
    const equivalent = mutants.filter((mutant) => mutant.equivalent !== undefined).length;
    return `| ${name} | ${count(name, 'killed')} | ${count(name, 'survived')} | ${equivalent} |`;
  });
  const [killed, survived] = [count(null, 'killed'), count(null, 'survived')];
  const killedPercent = killed + survived === 0 ? 0 : (100 * killed) / (killed + survived);
  const unusable = judged.filter(({ verdict }) => verdict === 'stale' || verdict === 'invalid');
  const equivalents = areas.flatMap(({ mutants }) => mutants.filter(({ equivalent }) => equivalent !== undefined));
  const section = (title: string, lines: readonly string[]): string =>
    lines.length === 0 ? '' : `\n## ${title}\n\n${lines.map((line) => `- ${line}`).join('\n')}\n`;
  return {
    text: `# Planted bugs

Written by \`npm run mutation\`: each bug was planted alone and the tests near it were run. ${killed} of ${killed + survived} were noticed (${killedPercent.toFixed(1)} %).

| area | noticed | unnoticed | equivalent |
|---|---|---|---|
${rows.join('\n')}
${section(
  'Unnoticed',
  judged.filter(({ verdict }) => verdict === 'survived').map(({ mutant }) => place(mutant)),
)}${section(
  'Could not be planted',
  unusable.map(({ mutant, verdict }) => `${place(mutant)} (${verdict})`),
)}${section(
  'Equivalent: nobody can see a difference',
  equivalents.map((mutant) => `${place(mutant)} — ${mutant.equivalent}`),
)}`,
    killedPercent,
    unusable: unusable.length,
  };
}

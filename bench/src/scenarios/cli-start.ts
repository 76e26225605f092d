/**
 * Start time of `acg`, compared with bare Node in the same minute, alternately: the machine's noise affects both. Users
 * type commands, and scripts call them in loops.
 */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { percentile } from '../statistics.js';
import { rounded, type Scenario, type ScenarioResult } from './scenario.js';

const ROUNDS = 40;
const ACG = fileURLToPath(new URL('../../../controlplane/cli/bin/acg.js', import.meta.url));
const CANDIDATES: readonly { readonly name: string; readonly args: readonly string[] }[] = [
  { name: 'bare node', args: ['-e', '0'] },
  { name: 'acg --version', args: [ACG, '--version'] },
  { name: 'acg agents ls --help', args: [ACG, 'agents', 'ls', '--help'] },
];

export const cliStart: Scenario = {
  name: 'cli',
  title: 'start of the command line',
  async run(): Promise<ScenarioResult> {
    const samples = CANDIDATES.map((): number[] => []);
    for (let round = 0; round < ROUNDS; round++) {
      for (const [at, { args }] of CANDIDATES.entries()) {
        const startMs = performance.now();
        execFileSync(process.execPath, [...args], { stdio: 'ignore' });
        samples[at]!.push(performance.now() - startMs);
      }
    }
    const bareMs = percentile(samples[0]!, 50);
    const figures = CANDIDATES.map(({ name }, at) => {
      const medianMs = percentile(samples[at]!, 50);
      return { name, medianMs, p95Ms: percentile(samples[at]!, 95), aboveNodeMs: medianMs - bareMs };
    });
    return {
      figures,
      rows: figures.map(({ name, medianMs, p95Ms, aboveNodeMs }) => ({
        name,
        'median ms': rounded(medianMs),
        'p95 ms': rounded(p95Ms),
        'above node ms': rounded(aboveNodeMs),
      })),
      charts: [
        {
          title: 'Start of the command line, median',
          unit: 'ms',
          bars: figures.map(({ name, medianMs }) => ({ label: name, value: medianMs })),
        },
      ],
      notes: [`${ROUNDS} starts of each, in turns; the bound is 80 ms above bare Node`],
    };
  },
};

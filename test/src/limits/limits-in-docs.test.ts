/**
 * The documents name every limit. README and gateway.proto contain lists, which `npm run openapi` generates. docs/contract.md describes in sentences how each limit is counted.
 */
import { readFileSync } from 'node:fs';
import { AGENT_LIMITS, LIMITS, RATE_LIMITS, type RateLimit } from '@acg/base/limit-definitions';
import { expect, test } from 'vitest';
import { expectGeneratedParts } from '../fixtures/expect-generated-doc-parts.js';

const readPage = (name: string): string => readFileSync(new URL(`../../../${name}`, import.meta.url), 'utf8');

const joinDistinct = (values: readonly string[], between: string): string => [...new Set(values)].join(between);

test('limits in docs: README lists the 429 and the /v1/self fields of each limit', async () => {
  const codes = (rates: readonly RateLimit[]) => rates.map(({ type }) => `\`${type}\``).join(', ');
  const short = RATE_LIMITS.filter(({ window }) => window === 'minute');
  const long = RATE_LIMITS.filter(({ window }) => window !== 'minute');
  const parts = [
    [
      /^\| 429 `limitType: [^|]* \| [^;|]*; `limit`/m,
      `| 429 ${formatCodes(codes(short))} | ${formatWindows(short)}; \`limit\``,
    ],
    [
      /^\| 429 `limitType: [^|]* \| [^;|]*; the same/m,
      `| 429 ${formatCodes(codes(long))} | ${formatWindows(long)}; the same`,
    ],
    [/limits\{[^}]*\}/, `limits{${AGENT_TYPES.join(',')}}`],
    [/\w+Remaining,\w+ResetAt(,\w+Remaining,\w+ResetAt)*/, formatFieldNames(RATE_LIMITS)],
  ] as const;
  await expectGeneratedParts('README.md', parts);
});

const formatCodes = (codes: string): string => codes.replace('`', '`limitType: ');
const formatWindows = (rates: readonly RateLimit[]): string => rates.map(({ label }) => label.toLowerCase()).join(', ');
const formatFieldNames = (rates: readonly RateLimit[]): string =>
  rates.map(({ type }) => `${type}Remaining,${type}ResetAt`).join(',');
const AGENT_TYPES = LIMITS.flatMap(({ type, unit, scope }) =>
  scope === 'project' || scope === 'org' ? [] : [unit === 'cents' ? `${type}Cents` : type],
);

test('limits in docs: gateway.proto lists the values of each field of Limit', async () => {
  const windows = LIMITS.filter(({ window }, at) => LIMITS.findIndex((row) => row.window === window) === at);
  const values = {
    type: joinDistinct(
      LIMITS.map(({ type }) => type),
      ' | ',
    ),
    window: windows.map(({ window, windowText }) => `${window} (${windowText})`).join(' | '),
    unit: joinDistinct(
      LIMITS.map(({ unit }) => unit),
      ' | ',
    ),
    scope: joinDistinct(
      LIMITS.map(({ scope }) => scope),
      ' | ',
    ),
  };
  const parts = Object.entries(values).map(
    ([field, comment]) =>
      [new RegExp(`(?<=^message Limit \\{[^}]*string ${field} = \\d+; +// ).*`, 'm'), comment] as const,
  );
  await expectGeneratedParts('proto/src/gateway.proto', parts);
});

test('limits in docs: the contract has a row with name, default and bounds of each limit', () => {
  const [, section] = /^## Limits\n(.*?)^\*\*/ms.exec(readPage('docs/contract.md'))!;
  const figure = (value: number): string => String(value).replace(/\B(?=(\d{3})+$)/g, ' ');
  for (const { type, label, unit, minimum, maximum, default: fallback } of AGENT_LIMITS) {
    const bounds = `${figure(minimum)} to ${figure(maximum)}${unit === 'cents' ? ' cents' : ''}`;
    const first = `| ${label.toLowerCase()} (\`${type}\`) | `;
    const line = section!.split('\n').find((one) => one.startsWith(first));
    expect(line ?? first, `docs/contract.md: the row of ${type} in the table of Limits`).toMatch(
      ` | ${fallback === null ? 'none' : figure(fallback)} | ${bounds} |`,
    );
  }
});

/** `acg archive`: lists the days of the ledger in the archive, and reads them back. `verify` ends with 1 where one differs. */
import type { Command } from 'commander';
import { fetchAllRows, type ResponseOf } from '../../api/call-api-operation.js';
import type { ProgramInterface } from '../../invocation/program-interface-for-commands.js';
import { CliError, EXIT_CODES } from '../../terminal/cli-error.js';
import { formatCents, formatCount, formatMinute } from '../../terminal/format-numbers-and-times.js';
import { listCommand } from '../descriptors/register-list-commands.js';
import { commandGroup } from '../descriptors/register-operation-commands.js';

function registerVerify(group: Command, { begin }: ProgramInterface): void {
  group
    .command('verify')
    .description('read archived days back and compare them with their manifests; all days by default')
    .argument('[days...]', 'UTC days, e.g. 2026-01-12')
    .action(async (given: readonly string[]) => {
      const run = begin();
      const client = await run.getClient();
      const days =
        given.length > 0 ? given : (await fetchAllRows(client, 'GET /v1/archive', 'days')).map(({ day }) => day);
      const results: ResponseOf<'POST /v1/archive/verify'>[] = [];
      for (const day of days) results.push(await client.post('/v1/archive/verify', { body: { day } }));
      run.printResult(results, () =>
        run.printTable(
          [
            { title: 'DAY', cell: ({ day }) => day },
            { title: 'STATE', cell: ({ ok }) => (ok ? 'verified' : 'differs') },
            { title: 'PROBLEM', cell: ({ problem }) => problem ?? '–' },
          ],
          results,
        ),
      );
      const broken = results.filter(({ ok }) => !ok).length;
      if (broken > 0) throw new CliError(EXIT_CODES.failed, `${broken} of ${results.length} archived days differ`);
    });
}

export const registerArchiveCommands = commandGroup(
  listCommand({
    description: 'list the days in the archive',
    operation: 'GET /v1/archive',
    rows: 'days',
    columns: [
      { title: 'DAY', cell: ({ day }) => day },
      { title: 'CALLS', cell: ({ rows }) => formatCount(rows), alignRight: true },
      { title: 'COST', cell: ({ costCents }) => formatCents(costCents), alignRight: true },
      { title: 'FILES', cell: ({ files }) => formatCount(files), alignRight: true },
      { title: 'BYTES', cell: ({ bytes }) => formatCount(bytes), alignRight: true },
      { title: 'VERIFIED (UTC)', cell: ({ verifiedAt }) => formatMinute(verifiedAt) },
    ],
  }),
  registerVerify,
);

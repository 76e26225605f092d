/**
 * `acg archive`: lists the days of the ledger in the archive, and reads them back. `verify` ends with 1 where one differs,
 * and with 10 where the storage cannot be read, which says nothing about the days.
 */
import type { Command } from 'commander';
import { fetchAllRows, type ResponseOf } from '../../api/call-api-operation.js';
import type { ProgramInterface } from '../../invocation/program-interface-for-commands.js';
import { CliError, EXIT_CODES } from '../../terminal/cli-error.js';
import { formatCents, formatCount, formatMinute } from '../../terminal/format-numbers-and-times.js';
import { listCommand } from '../descriptors/register-list-commands.js';
import { commandGroup } from '../descriptors/register-operation-commands.js';

type Verified = ResponseOf<'POST /v1/archive/verify'>;

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
      if (days.length === 0) {
        const { enabled } = await client.get('/v1/archive', {});
        run.printNote(
          enabled ? 'no day is in the archive yet' : 'there is no archive: the operator has not set ARCHIVE_URL',
        );
      }
      const results: Verified[] = [];
      for (const day of days) {
        const result = await client.post('/v1/archive/verify', { body: { day } });
        results.push(result);
        if (result.state === 'unreadable') break; // the next day would wait for the same storage
      }
      run.printResult(results, () =>
        run.printTable(
          [
            { title: 'DAY', cell: ({ day }) => day },
            { title: 'STATE', cell: ({ state }) => state },
            { title: 'PROBLEM', cell: ({ problem }) => problem ?? '–' },
          ],
          results,
        ),
      );
      const broken = results.filter(({ state }) => state === 'differs').length;
      if (broken > 0)
        throw new CliError(EXIT_CODES.failed, `${broken} of ${results.length} archived days differ`, {
          hint: 'a day that is still in the ledger is archived again before retention drops it',
        });
      const unread = results.find(({ state }) => state === 'unreadable');
      if (unread !== undefined)
        throw new CliError(
          EXIT_CODES.unreadable,
          `the archive could not be read from ${unread.day} on: that says nothing about its days`,
        );
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

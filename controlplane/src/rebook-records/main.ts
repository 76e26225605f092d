/**
 * `npm run rebook-records`: books records of the table `poison_records` again once their cause is gone, while the gateway
 * runs (docs/runbook.md#gatewayrecordssetaside). What still cannot be booked stays there and is listed with its reason.
 */
import { ConfigError, EnvReader } from '@acg/base/env-reader';
import { createLogger, maskSecrets } from '@acg/base/log';
import { UUID_PATTERN } from '@acg/base/uuid-patterns';
import { readUsageLogRetentionDays } from '../config.js';
import { readDatabaseUrl } from '../db/database-url.js';
import { openPool } from '../db/postgres-client.js';
import { UsagePartitions } from '../ledger/create-usage-day-partitions.js';
import { rebookQuarantinedRecords } from '../ledger/rebook-quarantined-records.js';
import { UsageIngest } from '../ledger/usage-ingest.js';

const EXIT_USAGE = 64;
const EXIT_CONFIG = 78;
const EXIT_UNAVAILABLE = 69;
const EXIT_SOME_LEFT = 65;
const USAGE = 'usage: rebook-records [--dry-run] [--organization ID] [--data-plane ID] [--ungranted]';

interface Arguments {
  readonly isDryRun: boolean;
  readonly orgId: string | null;
  readonly dataPlaneId: string | null;
  readonly includesUngranted: boolean;
}

/** Null: invalid arguments. */
function parseArguments(args: readonly string[]): Arguments | null {
  let parsed: Arguments = { isDryRun: false, orgId: null, dataPlaneId: null, includesUngranted: false };
  for (let i = 0; i < args.length; i++) {
    if (args[i] === '--dry-run') parsed = { ...parsed, isDryRun: true };
    else if (args[i] === '--ungranted') parsed = { ...parsed, includesUngranted: true };
    else if (args[i] === '--organization' && UUID_PATTERN.test(args[i + 1] ?? ''))
      parsed = { ...parsed, orgId: args[++i]! };
    else if (args[i] === '--data-plane' && args[i + 1] !== undefined) parsed = { ...parsed, dataPlaneId: args[++i]! };
    else return null;
  }
  return parsed;
}

async function rebook({ isDryRun, ...filter }: Arguments): Promise<void> {
  const read = new EnvReader(process.env);
  const url = readDatabaseUrl(read, 'the postgres:// URL of the running gateway');
  const retentionDays = readUsageLogRetentionDays(read);
  read.throwIfInvalid();
  const sql = openPool(url, { connectionsMax: 3, applicationName: 'acg-rebook-records' });
  try {
    const metrics = { recordBatch: () => undefined, recordLostCommit: () => undefined };
    // Budget alerts of this usage come from the sweep of the running control planes.
    const partitions = new UsagePartitions(sql, retentionDays);
    const ingest = new UsageIngest(sql, partitions, [], metrics, createLogger('rebook-records', 'silent'));
    const { booked, left } = await rebookQuarantinedRecords(sql, ingest, filter, isDryRun);
    process.stdout.write(`${isDryRun ? 'to book' : 'booked'}: ${booked}\n`);
    for (const [reason, count] of left) process.stderr.write(`rebook-records: left ${count}: ${reason}\n`);
    if (left.size > 0) process.exitCode = EXIT_SOME_LEFT;
  } finally {
    await sql.end({ timeout: 5 });
  }
}

const parsed = parseArguments(process.argv.slice(2));
if (parsed === null) {
  process.stderr.write(`rebook-records: ${USAGE}\n`);
  process.exitCode = EXIT_USAGE;
} else {
  try {
    await rebook(parsed);
  } catch (error) {
    const problems = error instanceof ConfigError ? error.problems : [(error as Error).message];
    for (const problem of problems) process.stderr.write(`rebook-records: ${maskSecrets(problem)}\n`);
    process.exitCode = error instanceof ConfigError ? EXIT_CONFIG : EXIT_UNAVAILABLE;
  }
}

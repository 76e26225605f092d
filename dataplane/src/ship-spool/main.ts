/**
 * `npm run ship-spool -- DIRECTORY`: sends the usage in the data directory of a data plane that will not start again, e.g.
 * of a removed ordinal of a StatefulSet (docs/operations.md#spools-of-removed-data-planes). Uses the id that the directory
 * holds and the token of the environment, so the usage is booked as the owner's. May be repeated.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { lockDirectory } from '@acg/base/directory-lock';
import { ConfigError } from '@acg/base/env-reader';
import { createLogger } from '@acg/base/log';
import { ControlPlaneClient } from '@acg/proto/control-plane-client';
import { type Config, loadConfig } from '../config.js';
import { loadDataPlaneId } from '../process/data-plane-id.js';
import { EXIT } from '../process/exit-codes.js';
import { GrpcUsageSink } from '../usage/grpc-usage-sink.js';
import { Spool } from '../usage/spool/spool.js';
import { UsageReporter } from '../usage/usage-reporter.js';

const EXIT_USAGE = 64;
const USAGE = 'usage: ship-spool DIRECTORY   (GATEWAY_DATA_DIR of a data plane that does not run)';
/** Ends without success when nothing was acknowledged for this time. */
const PATIENCE_MS = 60_000;
const STEP_MS = 1_000;

function fail(exitCode: number, message: string): never {
  process.stderr.write(`ship-spool: ${message}\n`);
  process.exit(exitCode);
}

/** Sends everything. Returns what is left, bytes. */
async function shipSpool(config: Config): Promise<number> {
  const log = createLogger('ship-spool', config.logLevel);
  const client = new ControlPlaneClient(config.controlplaneGrpc, config.link);
  const spool = new Spool(
    { directory: config.spoolDir, bytesMax: config.spoolBytesMax, retentionMs: config.spoolKeepMs },
    log,
  );
  const found = spool.stats().bytesUnacknowledged;
  const sink = new GrpcUsageSink(client, () => undefined);
  const reporter = new UsageReporter(spool, sink, { dataPlaneId: loadDataPlaneId(config.dataDir) }, log);
  let left = found;
  for (let deadline = performance.now() + PATIENCE_MS; performance.now() < deadline; ) {
    if (await reporter.flush(STEP_MS)) break;
    const { bytesUnacknowledged } = spool.stats();
    if (bytesUnacknowledged < left) deadline = performance.now() + PATIENCE_MS;
    left = bytesUnacknowledged;
  }
  await reporter.stop();
  left = spool.stats().bytesUnacknowledged;
  const { recordsReported, recordsRejected } = reporter.stats();
  await spool.close();
  client.close();
  process.stdout.write(`sent ${recordsReported} records and observations, ${found - left} of ${found} bytes\n`);
  if (recordsRejected > 0)
    process.stderr.write(
      `ship-spool: ${recordsRejected} records were not booked and are in the table poison_records: see rebook-records\n`,
    );
  return left;
}

async function main(): Promise<void> {
  const [directory, ...rest] = process.argv.slice(2);
  if (directory === undefined || directory === '' || rest.length > 0) fail(EXIT_USAGE, USAGE);
  const spoolDir = process.env.SPOOL_DIR || join(directory, 'spool');
  if (!existsSync(spoolDir))
    fail(EXIT.directory, `${spoolDir} does not exist: name a GATEWAY_DATA_DIR, or set SPOOL_DIR`);
  const config = loadConfig({ ...process.env, GATEWAY_DATA_DIR: directory });
  try {
    lockDirectory(directory, 'dataplane');
  } catch (error) {
    fail(EXIT.directory, `${(error as Error).message}: a running data plane sends its usage itself`);
  }
  const left = await shipSpool(config);
  if (left > 0)
    fail(EXIT.unavailable, `${left} bytes are left: check CONTROLPLANE_GRPC, the token and the log, and repeat`);
  process.exit(0); // a call that never ends must not keep the process
}

main().catch((error: unknown) =>
  error instanceof ConfigError
    ? fail(EXIT.config, error.message)
    : fail(EXIT.directory, error instanceof Error ? error.message : String(error)),
);

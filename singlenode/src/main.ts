/**
 * `npm start`: everything on one node (docs/operations.md#single-node). Starts the embedded Postgres, the control plane
 * and one data plane with in-process counters. Stops them in the opposite order, so that usage is flushed before the
 * database stops.
 */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DirectoryInUse, lockDirectory } from '@acg/base/directory-lock';
import { ignoreClosedPipes } from '@acg/base/log';
import { onSighup } from '@acg/base/sighup-reload-unless-terminal-closed';
import { checkNativeServer } from '@acg/dataplane/process/check-native-server';
import { createDataDirectory } from './data-directory.js';
import { EmbeddedDatabase, hasDatabase } from './embedded-database.js';
import { DamagedDataDirectoryError, loadOrCreateSecrets } from './node-secrets.js';
import { PlaneProcess, PlaneStartError } from './plane-process.js';
import { PostgresUnavailable } from './postgres/postgres-binaries.js';
import { startupBanner } from './startup-banner.js';

/** sysexits.h; listed in docs/operations.md. */
const EXIT = { config: 78, directory: 73, unavailable: 69, bug: 70 } as const;
const NEW_DATABASE = '--new-database';
const logLine = (line: string): void => void process.stderr.write(`gateway: ${line}\n`);

ignoreClosedPipes();
const env = process.env;
const dataDir = resolve(env.GATEWAY_DATA_DIR || '.gateway');
let database: EmbeddedDatabase | null = null;
let controlPlane: PlaneProcess | null = null;
let dataPlane: PlaneProcess | null = null;
let stopping: Promise<void> | null = null;

/** Stops data plane, control plane and database in this order: each needs the next one to finish its work. */
function stop(exitCode: number): Promise<void> {
  stopping ??= (async () => {
    await dataPlane?.stop();
    await controlPlane?.stop();
    await database?.stop();
    process.exit(exitCode);
  })();
  return stopping;
}

process.on('SIGINT', () => {
  if (stopping === null) logLine('stopping …');
  void stop(0);
});
process.on('SIGTERM', () => void stop(0));
onSighup({ reload: () => controlPlane?.reloadFiles(), stop: () => void stop(0) });

async function start(): Promise<void> {
  // Checked before a database is created that could not be served.
  const problem = checkNativeServer();
  if (problem !== null) {
    logLine(problem);
    return stop(EXIT.config);
  }
  const unknown = process.argv.slice(2).find((argument) => argument !== NEW_DATABASE);
  if (unknown !== undefined) {
    logLine(`unknown option ${unknown}: the only one is ${NEW_DATABASE}`);
    return stop(EXIT.config);
  }
  const isFirst = !existsSync(dataDir);
  if (isFirst) logLine(`first start: preparing ${dataDir}`);
  createDataDirectory(dataDir);
  lockDirectory(dataDir, 'gateway');
  const secrets = loadOrCreateSecrets(dataDir, hasDatabase(dataDir));
  let databaseUrl = env.DATABASE_URL;
  if (!databaseUrl && !env.DATABASE_URL_FILE) {
    database = new EmbeddedDatabase({
      dataDir,
      secrets,
      replaceMissing: process.argv.includes(NEW_DATABASE),
      onRestart(problem) {
        if (problem === null) logLine('the database stopped unexpectedly and was restarted');
        else {
          logLine(`the database stopped unexpectedly and cannot be restarted: ${problem}`);
          void stop(EXIT.unavailable);
        }
      },
    });
    databaseUrl = await database.start();
  }
  const shared = { ...env, GATEWAY_DATA_DIR: dataDir, LOG_LEVEL: env.LOG_LEVEL || 'warn' };
  // Known before the data plane listens, unless it uses any free port.
  const ownProxy = env.DATAPLANE_PORT === '0' ? undefined : url(env.DATAPLANE_HOST, Number(env.DATAPLANE_PORT || 8081));
  const proxyUrl = env.DATAPLANE_PUBLIC_URL || ownProxy;
  /** A secret in a file is read by the plane itself. */
  const orGenerated = (name: string, generated: string): string | undefined =>
    env[`${name}_FILE`] ? env[name] : env[name] || generated;
  const internalToken = orGenerated('INTERNAL_TOKEN', secrets.internalToken);
  controlPlane = new PlaneProcess({
    name: 'control plane',
    script: fileURLToPath(import.meta.resolve('@acg/controlplane/bundle/main')),
    env: {
      ...shared,
      DATABASE_URL: databaseUrl,
      MASTER_KEYS: orGenerated('MASTER_KEYS', secrets.masterKeys),
      JWT_SECRET: orGenerated('JWT_SECRET', secrets.jwtSecret),
      INTERNAL_TOKEN: internalToken,
      DATAPLANE_PUBLIC_URL: proxyUrl,
    },
    onRestart: logLine,
  });
  const control = await controlPlane.start();
  dataPlane = new PlaneProcess({
    name: 'data plane',
    script: fileURLToPath(import.meta.resolve('@acg/dataplane/bundle/main')),
    env: {
      ...shared,
      INTERNAL_TOKEN: internalToken,
      CONTROLPLANE_GRPC: env.CONTROLPLANE_GRPC || `127.0.0.1:${control.grpcPort ?? 9090}`,
    },
    onRestart: logLine,
  });
  const data = await dataPlane.start();
  process.stdout.write(
    startupBanner({
      controlPlane: url(env.CONTROLPLANE_HOST, control.port),
      dataPlane: url(env.DATAPLANE_HOST, data.port),
      dataDir,
      database: database?.directory ?? null,
      isFirst,
    }),
  );
}

function url(host: string | undefined, port: number): string {
  return `http://${host || '127.0.0.1'}:${port}`;
}

start().catch((error: unknown) => {
  // A plane that failed has already printed the reason.
  if (!(error instanceof PlaneStartError)) logLine((error as Error).message);
  void stop(exitCodeOf(error));
});

function exitCodeOf(error: unknown): number {
  if (error instanceof PlaneStartError) return error.exitCode;
  if (error instanceof DirectoryInUse || error instanceof DamagedDataDirectoryError) return EXIT.directory;
  return error instanceof PostgresUnavailable ? EXIT.unavailable : EXIT.bug;
}

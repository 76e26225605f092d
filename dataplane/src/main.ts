/**
 * Starts and stops the data plane's process. With one worker this process serves the agents. With more, it only
 * restarts the workers (see worker-fleet.ts) and serves their metrics. Exit codes: exit-codes.ts.
 */
import { DirectoryInUse, lockDirectory } from '@acg/base/directory-lock';
import { ConfigError } from '@acg/base/env-reader';
import { logInvariantFailures } from '@acg/base/invariant-failures';
import { createLogger, type Logger } from '@acg/base/log';
import { SecretFileWatcher } from '@acg/base/secret-file-watcher';
import { onSighup } from '@acg/base/sighup-reload-unless-terminal-closed';
import { type Config, loadConfig } from './config.js';
import type { Gateway, GatewayIdentity } from './gateway.js';
import { OpsServer, type OpsSource } from './ops/ops-server.js';
import { checkNativeServer } from './process/check-native-server.js';
import { loadDataPlaneId } from './process/data-plane-id.js';
import { EXIT } from './process/exit-codes.js';
import type { MessageFromWorker, MessageToWorker } from './process/fork-worker-process.js';
import { restoreFastProperties } from './process/restore-fast-strings-and-globals.js';
import { setV8GcFlags } from './process/v8-gc-flags.js';
import { WORKER_ENV_VARIABLE, WorkerExited, WorkerFleet } from './process/worker-fleet.js';
import { SpoolUnusableError } from './usage/spool/worker-directory.js';

/** Operations of a data-plane process. */
interface ServiceProcess extends OpsSource {
  stop(): Promise<void>;
}

let service: ServiceProcess | null = null;
let ops: OpsServer | null = null;
let stopping = false;

function exitWithError(exitCode: number, message: string): never {
  process.stderr.write(`dataplane: ${message}\n`);
  process.exit(exitCode);
}

function loadConfigOrExit(): Config {
  try {
    const config = loadConfig(process.env);
    // The server reads its own bound on a request's head from the environment when it loads; the gateway checks its own
    // limits afterwards.
    process.env.UWS_HTTP_MAX_HEADERS_SIZE ??= String(Math.max(32_768, 2 * config.headerBytesMax));
    return config;
  } catch (error) {
    if (error instanceof ConfigError) exitWithError(EXIT.config, error.message);
    throw error;
  }
}

async function stop(log: Logger, exitCode: number): Promise<void> {
  if (stopping) return;
  stopping = true;
  log.info('stopping: waiting for inflight calls');
  try {
    await service?.stop();
    ops?.close();
  } catch (error) {
    log.error({ err: error }, 'stopping failed');
  }
  process.exit(exitCode);
}

function stopOnSignals(log: Logger): void {
  process.on('SIGTERM', () => void stop(log, 0));
  process.on('SIGINT', () => void stop(log, 0));
  onSighup({
    reload: () => log.info('SIGHUP: a data plane has no file to reload; the control plane sends the prices'),
    stop: () => void stop(log, 0),
  });
  // The launcher or the fleet's parent has ended or wants this process to end.
  if (process.send !== undefined) process.on('disconnect', () => void stop(log, 0));
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'unexpected error: draining');
    void stop(log, EXIT.bug);
  });
}

function formatError(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Serves metrics and health, and reports readiness to the parent process. */
async function serveOpsAndAnnounce(config: Config, source: OpsSource, port: number, log: Logger): Promise<void> {
  ops = new OpsServer(source);
  let metricsPort: number;
  try {
    metricsPort = await ops.listen(config.metricsHost, config.metricsPort);
  } catch (error) {
    exitWithError(EXIT.unavailable, `DATAPLANE_METRICS_PORT cannot be served: ${formatError(error)}`);
  }
  log.info({ host: config.host, port, metricsPort, workers: config.workers }, 'data plane listening');
  process.send?.({ ready: true, port, metricsPort });
}

async function startGateway(config: Config, identity: GatewayIdentity, port: number, log: Logger) {
  const problem = checkNativeServer();
  if (problem !== null) exitWithError(EXIT.config, problem);
  // Loaded here, because the primary of a fleet does not need it.
  const { Gateway } = await import('./gateway.js');
  restoreFastProperties();
  const onFatal = (message: string): void => {
    process.stderr.write(`dataplane: ${message}\n`);
    void stop(log, EXIT.unavailable);
  };
  const gateway = await Gateway.create(config, identity, log, onFatal).catch((error: unknown) => {
    if (error instanceof SpoolUnusableError) exitWithError(EXIT.directory, error.message);
    throw error;
  });
  service = gateway;
  watchSecretFiles(config, gateway, log);
  try {
    return { gateway, port: await gateway.listen(port, config.workers > 1) };
  } catch (error) {
    exitWithError(EXIT.unavailable, formatError(error));
  }
}

/** A faulty file changes nothing: the secrets of before stay in use, and the log says what is wrong. */
function watchSecretFiles(config: Config, gateway: Gateway, log: Logger): void {
  const reload = (): void => {
    try {
      gateway.replaceLinkSecurity(loadConfig(process.env).link);
      log.info('secrets and certificates reloaded');
    } catch (error) {
      log.error({ err: error }, 'changed secrets cannot be used: those of before stay in use');
    }
  };
  new SecretFileWatcher(config.secretFiles, reload).start();
}

async function runSingle(config: Config, log: Logger): Promise<void> {
  const identity = { dataPlaneId: loadDataPlaneId(config.dataDir), workers: 1 };
  const { gateway, port } = await startGateway(config, identity, config.port, log);
  await serveOpsAndAnnounce(config, gateway, port, log);
}

async function runPrimary(config: Config, log: Logger): Promise<void> {
  const fleet = new WorkerFleet(import.meta.filename, process.env, config, log, (exitCode, message) => {
    process.stderr.write(`dataplane: no worker is willing to run: ${message}\n`);
    void stop(log, exitCode);
  });
  service = fleet;
  let port: number;
  try {
    port = await fleet.start();
  } catch (error) {
    await fleet.stop();
    if (stopping) return; // Stopped while it started.
    exitWithError(error instanceof WorkerExited ? error.exitCode : EXIT.unavailable, formatError(error));
  }
  await serveOpsAndAnnounce(config, fleet, port, log);
}

/** `index:port`, set by the fleet. */
async function runWorker(config: Config, placement: string, log: Logger): Promise<void> {
  const [index, wantedPort] = placement.split(':');
  const dataPlaneId = `${loadDataPlaneId(config.dataDir)}-${index}`;
  const identity = { dataPlaneId, workers: config.workers };
  const { gateway, port } = await startGateway(config, identity, Number(wantedPort), log);
  const tell = (message: MessageFromWorker): void => void process.send?.(message);
  process.on('message', (message: MessageToWorker) => {
    if (message.kind !== 'metrics') return;
    void gateway.metricsJson().then((metrics) => {
      tell({ kind: 'metrics', id: message.id, metrics, notReady: gateway.notReadyReason() });
    });
  });
  tell({ kind: 'listening', port });
}

async function main(): Promise<void> {
  setV8GcFlags();
  const config = loadConfigOrExit();
  const log = createLogger('data', config.logLevel);
  logInvariantFailures(log);
  stopOnSignals(log);
  const placement = process.env[WORKER_ENV_VARIABLE];
  if (placement !== undefined) return runWorker(config, placement, log);
  for (const warning of config.warnings) log.warn(warning);
  try {
    lockDirectory(config.dataDir, 'dataplane');
  } catch (error) {
    if (error instanceof DirectoryInUse) exitWithError(EXIT.directory, `GATEWAY_DATA_DIR: ${error.message}`);
    exitWithError(EXIT.directory, `GATEWAY_DATA_DIR ${config.dataDir} cannot be used: ${formatError(error)}`);
  }
  await (config.workers > 1 ? runPrimary(config, log) : runSingle(config, log));
}

main().catch((error: unknown) => exitWithError(EXIT.bug, formatError(error)));

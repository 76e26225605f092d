/**
 * Process entry of the control plane: loads the configuration, then opens the ports. Stops on SIGTERM, on SIGINT or
 * when the launcher ends; reloads files on SIGHUP.
 */
import { ConfigError } from '@acg/base/env-reader';
import { logInvariantFailures } from '@acg/base/invariant-failures';
import { createLogger, maskSecrets } from '@acg/base/log';
import { SecretFileWatcher } from '@acg/base/secret-file-watcher';
import { onSighup } from '@acg/base/sighup-reload-unless-terminal-closed';
import { type Config, loadConfig } from './config.js';
import { buildControlPlane } from './control-plane.js';
import { describeStartupProblem } from './ops/startup-problem.js';
import { KeyServiceError } from './vault/key-services/key-service.js';
import { MasterKeyUnwrapper } from './vault/key-services/master-key-ring.js';

const EXIT_CONFIG = 78;
const EXIT_UNAVAILABLE = 69;

/** Exits with one line per configuration problem. */
function exitOnConfigError<T>(build: () => T): T {
  try {
    return build();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    for (const problem of error.problems) process.stderr.write(`controlplane: ${problem}\n`);
    process.exit(EXIT_CONFIG);
  }
}

const unwrapper = new MasterKeyUnwrapper();
const unwrapMasterKeys = async (read: Config): Promise<Config> => ({
  ...read,
  masterKeys: await unwrapper.unwrapAll(read.masterKeyRing),
});

/** Exits with one line when the key service does not unwrap a master key. */
async function loadConfigOrExit(): Promise<Config> {
  const read = exitOnConfigError(() => loadConfig(process.env));
  try {
    return await unwrapMasterKeys(read);
  } catch (error) {
    if (!(error instanceof KeyServiceError)) throw error;
    process.stderr.write(`controlplane: ${maskSecrets(error.message)}\n`);
    process.exit(EXIT_UNAVAILABLE);
  }
}

const config = await loadConfigOrExit();
const log = createLogger('control', config.logLevel);
logInvariantFailures(log);
for (const warning of config.warnings) log.warn(warning);
const service = exitOnConfigError(() => buildControlPlane(config, log));

function reloadAll(): void {
  service.reloadFiles();
  if (config.secretFiles.length > 0) void reloadSecrets();
}

let stopping = false;
async function stop(reason: string): Promise<void> {
  if (stopping) return;
  stopping = true;
  log.info({ reason }, 'stopping');
  const deadline = setTimeout(() => {
    log.warn({ timeoutMs: config.drainTimeoutMs }, 'drain timed out');
    process.exit(1);
  }, config.drainTimeoutMs);
  await service.stop();
  clearTimeout(deadline);
  process.exit(0);
}

/** A faulty file changes nothing: the secrets of before stay in use, and the log says what is wrong. */
async function reloadSecrets(): Promise<void> {
  try {
    await service.replaceSecrets(await unwrapMasterKeys(loadConfig(process.env)));
    log.info('secrets and certificates reloaded');
  } catch (error) {
    log.error({ err: error }, 'changed secrets cannot be used: those of before stay in use');
  }
}
const secretFiles = new SecretFileWatcher(config.secretFiles, () => void reloadSecrets());

process.on('SIGTERM', () => void stop('SIGTERM'));
process.on('SIGINT', () => void stop('SIGINT'));
onSighup({ reload: reloadAll, stop: () => void stop('terminal closed') });
process.on('disconnect', () => void stop('launcher ended'));

try {
  const { port, grpcPort, metricsPort } = await service.start();
  log.info({ host: config.host, port, grpcPort, metricsPort }, 'control plane listening');
  secretFiles.start();
  process.send?.({ ready: true, port, grpcPort, metricsPort });
} catch (error) {
  process.stderr.write(`controlplane: ${describeStartupProblem(error, config.databaseUrl)}\n`);
  process.exit(EXIT_UNAVAILABLE);
}

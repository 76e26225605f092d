/** Data planes of two builds side by side, behind the same control plane, Redis and provider. */
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PlaneProcess, planeProgram } from '@acg/test/fixtures/plane-process';
import { waitForCondition } from '@acg/test/fixtures/stack';
import type { GatewayStack } from './gateway-stack.js';
import { PROXY_PATH } from './scenario-request.js';

export interface Build {
  readonly plane: PlaneProcess;
  /** URL of the call. */
  readonly url: string;
}

const OWN_ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Starts data planes of this build and of the tree `root`. `otherNodeOptions`: NODE_OPTIONS of the latter. */
export async function startTwoBuilds(
  gateway: GatewayStack,
  root: string,
  round: number,
  otherNodeOptions = '',
): Promise<[Build, Build]> {
  const ours = await start(gateway, OWN_ROOT, `this-${round}`, '');
  return [ours, await start(gateway, root, `other-${round}`, otherNodeOptions)];
}

async function start(
  { stack, dataPlane }: GatewayStack,
  root: string,
  name: string,
  nodeOptions: string,
): Promise<Build> {
  const dataDir = join(stack.home, name);
  mkdirSync(dataDir);
  const env = { ...dataPlane.env, GATEWAY_DATA_DIR: dataDir, NODE_OPTIONS: nodeOptions };
  const plane = new PlaneProcess('dataplane', env, planeProgram('dataplane', root));
  const { port, metricsPort } = await plane.start();
  const ready = async () => (await fetch(`http://127.0.0.1:${metricsPort}/readyz`)).status === 200;
  await waitForCondition(ready, `${name} ready`);
  return { plane, url: `http://127.0.0.1:${port}${PROXY_PATH}` };
}

/** CPU time since the process started, all threads, µs. */
export function runTimeUs(pid: number): number {
  let nanos = 0;
  for (const task of readdirSync(`/proc/${pid}/task`)) {
    nanos += Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ')[0]);
  }
  return nanos / 1_000;
}

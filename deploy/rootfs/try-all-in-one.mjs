// The README's quickstart, word for word, against the all-in-one image.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Container } from './container.mjs';
import { endParts, startNode } from './start-postgres-redis-nginx.mjs';

const repository = fileURLToPath(new URL('../..', import.meta.url));

/** The commands of the quickstart's third terminal. */
function printedCommands() {
  const readme = readFileSync(join(repository, 'README.md'), 'utf8');
  const section = readme.slice(readme.indexOf('\nTerminal 3'), readme.indexOf('\nCtrl-C in terminal 2'));
  const blocks = [...section.matchAll(/```sh\n(.*?)```/gs)].map((match) => match[1]);
  assert.ok(blocks.length >= 4, 'the README has its quickstart');
  return blocks;
}

export async function tryAllInOne(image, home) {
  await startNode(join(repository, 'stand-in-provider/dist/main.js'), ['9001'], 9001);
  const since = performance.now();
  const gateway = new Container({
    image,
    home,
    env: { PROVIDERS_FILE: '/run/settings/stand-in-providers.json' },
    files: { '/run/settings': join(repository, 'deploy') },
  });
  try {
    await gateway.ready('http://127.0.0.1:9464/readyz');
    const startedMs = Math.round(performance.now() - since);
    assert.deepEqual(gateway.privileges, { uid: 1000, capabilities: 0, noNewPrivileges: true, coreBytes: 0 });
    const [account, call, sdk, summary] = printedCommands();
    // "A few seconds later": until the ledger has both calls.
    const wait = `for i in $(seq 100); do answer=$(${summary.trim()}); case "$answer" in *'"totalRequests":2'*) break;; esac; sleep 0.2; done; echo "$answer"`;
    const mark = 'echo; echo ----';
    const script = ['set -e', account, mark, call, mark, sdk, mark, wait].join('\n');
    const printed = execFileSync('bash', ['-c', script], { cwd: repository, encoding: 'utf8' }).split('\n----\n');
    assert.match(printed[0], /"status":"active"/);
    assert.match(printed[1], /^data: \{.*data: \[DONE\]/s);
    assert.match(printed[2], /\w/);
    assert.match(printed[3], /"totalRequests":2/);
    const { code, ms } = await gateway.stop();
    assert.equal(code, 0, gateway.output);
    return {
      'gateway: first start, ms': startedMs,
      'gateway: quickstart': 'passed',
      'gateway: SIGTERM to end, ms': ms,
    };
  } catch (error) {
    throw new Error(`${error.message}\n${gateway.output}`);
  } finally {
    await gateway.stop();
    await endParts();
  }
}

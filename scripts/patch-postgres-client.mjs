// Patches the Postgres client in node_modules, which mishandles lost connections (porsager/postgres, issues 1066, 1154,
// 1192 and 1208; reported in 2025, fixed in no release):
// - A query on a connection that has just closed, such as the rollback after the server was killed, is written a moment
//   later to a missing socket, in a callback that no caller can catch. The process exits.
// - Data that was queued when the connection closed is sent before the greeting of the next connection, which then never opens.
// - A query between a connection's error and its end never settles.
// - The client's own query for array types, sent while a connection opens, fails in a callback that no caller can catch. The
//   process exits.
// - A reserved connection that was lost returns to the pool and fails every later query.
// - The server's error for a killed connection is reported again to the first query of the next connection.
// After the patch every such query fails with CONNECTION_CLOSED, and the next query opens a new connection. A connection that
// could not load the array types is not used.
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const PATCHED_VERSION = '3.4.9';
const REPLACEMENTS = [
  [
    `  function nextWrite(fn) {
`,
    `  function nextWrite(fn) {
    if (socket === null) {
      const closedError = Errors.connection('CONNECTION_CLOSED', options, socket)
      chunk = nextWriteTimer = null
      error(closedError)
      query = null
      ;[queues.open, queues.busy, queues.full].includes(connection.queue) && onclose(connection, closedError)
      return false
    }
`,
  ],
  [
    `    clearImmediate(nextWriteTimer)
    socket.removeListener('data', data)
`,
    `    clearImmediate(nextWriteTimer)
    chunk = nextWriteTimer = null
    socket.removeListener('data', data)
`,
  ],
  [
    `    !hadError && (query || sent.length) && error(Errors.connection('CONNECTION_CLOSED', options, socket))
`,
    `    ;(query || sent.length) && error(Errors.connection('CONNECTION_CLOSED', options, socket))
    query = null
`,
  ],
  [
    `    socket.removeAllListeners()
    socket = null
`,
    `    socket.removeAllListeners()
    socket = errorResponse = null
`,
  ],
  [
    `        return fetchArrayTypes()
`,
    `        return fetchArrayTypes().catch(() => socket && socket.destroy())
`,
  ],
];

const root = join(dirname(createRequire(import.meta.url).resolve('postgres')), '../..');
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const file = join(root, 'src/connection.js');
const source = readFileSync(file, 'utf8');
let patched = source;
for (const [original, replacement] of REPLACEMENTS) {
  if (patched.includes(replacement)) continue;
  if (version !== PATCHED_VERSION || patched.split(original).length !== 2) {
    console.error(
      `postgres ${version} is not the ${PATCHED_VERSION} that scripts/patch-postgres-client.mjs patches: check whether that release has fixed the defects`,
    );
    process.exit(1);
  }
  patched = patched.replace(original, () => replacement);
}
if (patched !== source) {
  const temporary = `${file}.${process.pid}`;
  writeFileSync(temporary, patched);
  renameSync(temporary, file);
}

// Mends defects of the Postgres client in how it loses a connection (porsager/postgres, issues 1066, 1154, 1192 and 1208;
// known since 2025, mended in no release):
// - What is asked on a connection that has just been closed, such as the rollback after the server was killed, is sent a
//   moment later to a socket that is no more, from a callback where nobody can catch it: the process ends.
// - What waited to be sent when it closed is sent before the greeting of the next one, which then never opens.
// - What is asked between its error and its end is never answered.
// - What it asks itself while a connection opens, the types of arrays, fails where nobody can catch it: the process ends.
// - A reserved one that was lost goes back among the open ones and fails every query that it is given.
// - What the server said as it ended a connection under a query is told again to the first query of the next connection.
// Here every such query fails with CONNECTION_CLOSED, and the connection is opened anew for the next one; one that does
// not know the types of arrays is used for nothing.
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const MENDED_VERSION = '3.4.9';
const EDITS = [
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
let mended = source;
for (const [defect, mend] of EDITS) {
  if (mended.includes(mend)) continue;
  if (version !== MENDED_VERSION || mended.split(defect).length !== 2) {
    console.error(
      `postgres ${version} is not the ${MENDED_VERSION} that scripts/mend-postgres.mjs mends: see whether the defect is gone`,
    );
    process.exit(1);
  }
  mended = mended.replace(defect, () => mend);
}
if (mended !== source) {
  const fresh = `${file}.${process.pid}`;
  writeFileSync(fresh, mended);
  renameSync(fresh, file);
}

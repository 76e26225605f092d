#!/usr/bin/env node
// Committed, so that npm links it before anything is built: a bin whose file is missing at install is left out silently.
try {
  await import('../dist/bundle/main.js');
} catch (error) {
  if (error?.code !== 'ERR_MODULE_NOT_FOUND' || !String(error.message).includes('bundle')) throw error;
  process.stderr.write('acg: not built yet: run "npm run build" in the clone\n');
  process.exitCode = 1;
}

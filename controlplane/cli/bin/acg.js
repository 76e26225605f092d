#!/usr/bin/env node
// Committed, so that npm links it before anything is built: a bin whose file is missing at install is left out silently.
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(`acg: needs Node 20.19 or later, and this is Node ${process.versions.node}\n`);
  process.exit(1);
}
try {
  await import('../dist/bundle/main.js');
} catch (error) {
  if (error?.code !== 'ERR_MODULE_NOT_FOUND' || !String(error.message).includes('bundle')) throw error;
  process.stderr.write('acg: not built yet: run "npm run build" in the clone\n');
  process.exitCode = 1;
}

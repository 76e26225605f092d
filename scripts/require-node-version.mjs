// Ends a build under a Node that is older than package.json requires, before a tool fails with a syntax error.
import { readFileSync } from 'node:fs';

const { engines } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
const [major, minor] = engines.node.replace('>=', '').split('.').map(Number);
const [ownMajor, ownMinor] = process.versions.node.split('.').map(Number);
if (ownMajor < major || (ownMajor === major && ownMinor < minor)) {
  console.error(`gateway: needs Node ${major}.${minor} or later, and this is Node ${process.versions.node}`);
  process.exit(78);
}

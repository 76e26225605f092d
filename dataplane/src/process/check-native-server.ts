/**
 * Whether the HTTP server's binary fits this Node and this system. It comes as one file per platform and Node version,
 * and those for Node 22 and later need a newer glibc: what does not fit would fail with a page of the loader's words.
 */
import { createRequire } from 'node:module';

const NODE_MIN = [20, 19] as const;
const REQUIREMENTS =
  'needed is Node 20.19 with glibc 2.27, or Node 22 or 24 with glibc 2.38 (Debian 13, Ubuntu 24.04), or macOS';

/** Null, or one line for the operator. Loads the server, so to be called when its environment is set. */
export function checkNativeServer(): string | null {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major < NODE_MIN[0] || (major === NODE_MIN[0] && minor < NODE_MIN[1]))
    return `${describePlatform()}; ${REQUIREMENTS}`;
  try {
    createRequire(import.meta.url)('uWebSockets.js');
    return null;
  } catch {
    return `no binary of the HTTP server fits ${describePlatform()}; ${REQUIREMENTS}`;
  }
}

function describePlatform(): string {
  Object.assign(process.report, { excludeNetwork: true }); // else it looks up names
  const { header } = process.report.getReport() as unknown as { header: { glibcVersionRuntime?: string } };
  const libc =
    process.platform === 'linux'
      ? `, ${header.glibcVersionRuntime === undefined ? 'no glibc' : `glibc ${header.glibcVersionRuntime}`}`
      : '';
  return `Node ${process.versions.node} on ${process.platform} ${process.arch}${libc}`;
}

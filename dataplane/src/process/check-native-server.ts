/**
 * Checks whether the HTTP server's native binary fits this Node and this system. It ships as one file per platform and
 * Node version, and those for Node 22 and later need a newer glibc. Without this check, a mismatch would fail with a
 * long loader error.
 */
import { createRequire } from 'node:module';

const NODE_MIN = [20, 19] as const;
const REQUIREMENTS =
  'required: Node 20.19 with glibc 2.27, or Node 22 or 24 with glibc 2.38 (Debian 13, Ubuntu 24.04), or macOS';

/** Returns null, or one line for the operator. Loads the server, so call it after its environment is set. */
export function checkNativeServer(): string | null {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major < NODE_MIN[0] || (major === NODE_MIN[0] && minor < NODE_MIN[1]))
    return `${describePlatform()}; ${REQUIREMENTS}`;
  try {
    createRequire(import.meta.url)('uWebSockets.js');
    return null;
  } catch {
    return `the HTTP server has no binary for ${describePlatform()}; ${REQUIREMENTS}`;
  }
}

function describePlatform(): string {
  Object.assign(process.report, { excludeNetwork: true }); // otherwise it resolves host names
  const { header } = process.report.getReport() as unknown as { header: { glibcVersionRuntime?: string } };
  const libc =
    process.platform === 'linux'
      ? `, ${header.glibcVersionRuntime === undefined ? 'no glibc' : `glibc ${header.glibcVersionRuntime}`}`
      : '';
  return `Node ${process.versions.node} on ${process.platform} ${process.arch}${libc}`;
}

/** Programs that operators will read our files with, as `npm test` brings them. */
import { fileURLToPath, pathToFileURL } from 'node:url';

export const repositoryRoot = fileURLToPath(new URL('../../..', import.meta.url));

const { findTool } = (await import(
  pathToFileURL(`${repositoryRoot}scripts/fetch-promtool-amtool-kubectl.mjs`).href
)) as {
  findTool(name: string): string | null;
};

export function operatorTool(name: string): string {
  const path = findTool(name);
  if (path === null) throw new Error(`${name} is missing: node scripts/install-test-requirements.mjs brings it`);
  return path;
}

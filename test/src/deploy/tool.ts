/** Programs that operators will read our files with, as `npm test` brings them. */
import { fileURLToPath, pathToFileURL } from 'node:url';

export const repository = fileURLToPath(new URL('../../..', import.meta.url));

const { findTool } = (await import(pathToFileURL(`${repository}scripts/tools.mjs`).href)) as {
  findTool(name: string): string | null;
};

export function tool(name: string): string {
  const path = findTool(name);
  if (path === null) throw new Error(`${name} is missing: node scripts/test-requirements.mjs brings it`);
  return path;
}

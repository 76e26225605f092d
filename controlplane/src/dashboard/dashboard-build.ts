/** The built dashboard as it lies on disk, read once at the start; its page is filled in for each request. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Made by `npm run build`; the same place seen from the sources and from what they are compiled to. */
const BUILD_DIRECTORY = fileURLToPath(new URL('../../dashboard/dist/site', import.meta.url));

export interface DashboardBuild {
  /** Absolute path of the files whose names hold a hash of what is in them. */
  readonly assetsDirectory: string;
  /** index.html for one answer; `session`: its request had a session's cookie. */
  renderPage(nonce: string, session: boolean): string;
}

/** Null: it was not built, as in the image of a plane that does not serve it. */
export function loadDashboardBuild(publicUrl: string, directory: string = BUILD_DIRECTORY): DashboardBuild | null {
  const index = join(directory, 'index.html');
  if (!existsSync(index)) return null;
  // Where a proxy publishes the service under a path, links need it; the service itself is called without.
  const base = new URL(publicUrl).pathname.replace(/\/+$/, '');
  const html = readFileSync(index, 'utf8').replaceAll('"./assets/', `"${base}/assets/`).replaceAll('__BASE__', base);
  return {
    assetsDirectory: join(directory, 'assets'),
    renderPage: (nonce, session) =>
      html.replaceAll('__NONCE__', nonce).replace('__SESSION__', session ? 'some' : 'none'),
  };
}

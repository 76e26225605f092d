/** The built dashboard on disk. The files are read once at the start; the page is rendered for each request. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Created by `npm run build`. The relative path is the same from the sources and from the compiled files. */
const BUILD_DIRECTORY = fileURLToPath(new URL('../../dashboard/dist/site', import.meta.url));

export interface DashboardBuild {
  /** Absolute path of the directory with the assets, whose names contain a hash of their content. */
  readonly assetsDirectory: string;
  /** Renders index.html for one response. `session`: the request had a session cookie. */
  renderPage(nonce: string, session: boolean): string;
}

/** Null: the dashboard was not built, as in the image of a process that does not serve it. */
export function loadDashboardBuild(publicUrl: string, directory: string = BUILD_DIRECTORY): DashboardBuild | null {
  const index = join(directory, 'index.html');
  if (!existsSync(index)) return null;
  // Links need the path under which a proxy publishes the service. The service itself is called without that path.
  const base = new URL(publicUrl).pathname.replace(/\/+$/, '');
  const html = readFileSync(index, 'utf8').replaceAll('"./assets/', `"${base}/assets/`).replaceAll('__BASE__', base);
  return {
    assetsDirectory: join(directory, 'assets'),
    renderPage: (nonce, session) =>
      html.replaceAll('__NONCE__', nonce).replaceAll('__SESSION__', session ? 'some' : 'none'),
  };
}

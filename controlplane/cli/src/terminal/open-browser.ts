/** Opens pages of the gateway. Loaded on demand. */
import open from 'open';
import { CliError, EXIT_CODES } from './cli-error.js';

/** Opens http and https URLs only, because a launcher would also open files and programs. */
export async function openInBrowser(run: { printNote(line: string): void }, url: string): Promise<void> {
  if (!/^https?:\/\//.test(url)) throw new CliError(EXIT_CODES.failed, `not a web URL: ${url}`);
  const child = await open(url).catch((error: Error) => error);
  if (child instanceof Error) {
    run.printNote(`no browser could be started (${child.message}): open ${url}`);
    return;
  }
  child.once('error', () => run.printNote(`no browser could be started: open ${url}`));
  child.unref();
}

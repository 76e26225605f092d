/** Opens pages of the gateway; loaded only where something is opened. */
import open from 'open';
import { CliError, EXIT_CODES } from './cli-error.js';

/** A page of the web and nothing else: a launcher takes files and programs, too. */
export async function openInBrowser(run: { printNote(line: string): void }, url: string): Promise<void> {
  if (!/^https?:\/\//.test(url)) throw new CliError(EXIT_CODES.failed, `not the address of a page: ${url}`);
  const child = await open(url).catch((error: Error) => error);
  if (child instanceof Error) {
    run.printNote(`no browser could be started (${child.message}): open ${url}`);
    return;
  }
  child.once('error', () => run.printNote(`no browser could be started: open ${url}`));
  child.unref();
}

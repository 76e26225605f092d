/** Opens pages of the gateway; loaded only where something is opened. */
import open from 'open';
import { EXIT, Failure } from './failure.js';

/** A page of the web and nothing else: a launcher takes files and programs, too. */
export async function openInBrowser(run: { note(line: string): void }, url: string): Promise<void> {
  if (!/^https?:\/\//.test(url)) throw new Failure(EXIT.failed, `not the address of a page: ${url}`);
  const child = await open(url).catch((error: Error) => error);
  if (child instanceof Error) {
    run.note(`no browser could be started (${child.message}): open ${url}`);
    return;
  }
  child.once('error', () => run.note(`no browser could be started: open ${url}`));
  child.unref();
}

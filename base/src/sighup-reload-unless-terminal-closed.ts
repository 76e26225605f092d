/**
 * Handles SIGHUP, whose default ends the process. The signal has two meanings: an operator requests a reload of files,
 * or the kernel or shell reports that the terminal was closed. A process that had a terminal and has none any more
 * stops; every other SIGHUP reloads.
 */
import { closeSync, openSync } from 'node:fs';

interface SighupActions {
  /** An operator requested a reload. */
  reload(): void;
  /** The terminal of the process was closed. */
  stop(): void;
}

export function onSighup({ reload, stop }: SighupActions): void {
  const hadTerminal = hasControllingTerminal();
  process.on('SIGHUP', () => {
    if (hadTerminal && !hasControllingTerminal()) stop();
    else reload();
  });
}

/** /dev/tty cannot be opened without a controlling terminal (tty(4)). */
function hasControllingTerminal(): boolean {
  try {
    closeSync(openSync('/dev/tty', 'r'));
    return true;
  } catch {
    return false;
  }
}

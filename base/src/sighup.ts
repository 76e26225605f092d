/**
 * SIGHUP, whose default ends the process. It has two meanings: "read the files again", sent by an operator, and "the
 * terminal is gone", sent by the kernel or the shell to what was started there. The terminal tells them apart: a process
 * that had one and has none any more has lost it.
 */
import { closeSync, openSync } from 'node:fs';

interface SighupActions {
  /** The operator asks for it. */
  reload(): void;
  /** The terminal of the process was closed. */
  stop(): void;
}

export function onSighup({ reload: reread, stop }: SighupActions): void {
  const hadTerminal = hasControllingTerminal();
  process.on('SIGHUP', () => {
    if (hadTerminal && !hasControllingTerminal()) stop();
    else reread();
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

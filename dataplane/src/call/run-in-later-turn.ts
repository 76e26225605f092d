/**
 * Runs a callback in a later turn of the event loop. The server never frees the 480 bytes of a connection that is closed
 * where immediates run (dataplane/UWS.md); timers run in another phase, up to 1 ms later.
 */
export function runInLaterTurn(closesConnection: boolean, run: () => void): void {
  if (closesConnection) setTimeout(run, 0);
  else setImmediate(run);
}

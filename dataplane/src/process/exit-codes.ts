/** How a process of the data plane ends when it cannot go on (sysexits.h). */
export const EXIT = Object.freeze({
  /** Bad configuration. */
  config: 78,
  /** The data directory is in use, or it or the spool's cannot be used. */
  directory: 73,
  /** A port is in use, or the control plane refuses this data plane. */
  unavailable: 69,
  bug: 70,
});

/** How a process of the data plane ends when it cannot go on (sysexits.h). */
export const EXIT = Object.freeze({
  /** Bad configuration. */
  config: 78,
  /** The data directory is in use. */
  directory: 73,
  /** A port is in use, or the control plane refuses this data plane. */
  unavailable: 69,
  bug: 70,
});

/** Exit codes of a data-plane process that cannot continue (sysexits.h). */
export const EXIT = Object.freeze({
  /** Invalid configuration. */
  config: 78,
  /** The data directory is in use, or it or the spool directory is unusable. */
  directory: 73,
  /** A port is in use, or the control plane rejects this data plane. */
  unavailable: 69,
  bug: 70,
});

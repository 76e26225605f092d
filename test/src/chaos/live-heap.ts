/** Measures a plane's live heap without garbage; see heap-probe.ts. */
import { fileURLToPath } from 'node:url';
import type { PlaneProcess } from '../fixtures/plane-process.js';

const PROBE_SCRIPT = fileURLToPath(new URL('../../dist/chaos/heap-probe.js', import.meta.url));

/** Node options that load the probe into a plane. */
export const HEAP_PROBE_NODE_OPTIONS = ['--expose-gc', '--import', PROBE_SCRIPT] as const;

export async function measureLiveBytes(plane: PlaneProcess): Promise<number> {
  const { heldBytes } = await plane.request<{ heldBytes: number }>({ held: true }, 'heldBytes');
  return heldBytes;
}

/** What a plane holds without its garbage; see held-probe.ts. */
import { fileURLToPath } from 'node:url';
import type { TestPlane } from '../plane-process.js';

const PROBE = fileURLToPath(new URL('../../dist/chaos/held-probe.js', import.meta.url));

/** Options of Node that a plane needs to be asked. */
export const HELD_PROBE = ['--expose-gc', '--import', PROBE] as const;

export async function heldBytesOf(plane: TestPlane): Promise<number> {
  const { heldBytes } = await plane.ask<{ heldBytes: number }>({ held: true }, 'heldBytes');
  return heldBytes;
}

/**
 * The manifest of an archived day: rows, sums and checksums of its files. Every writer of the storage can edit it, so
 * reading trusts no value of it: keys must be those of the day, and figures are numbers in bounds. Pure.
 */
import type { DaySums } from './archive-store.js';
import { type ArchivedFile, partKey } from './part-writer.js';

const MANIFEST_VERSION = 1;
/** A manifest of 10 000 parts has 3 MB. */
export const MANIFEST_BYTES_MAX = 16 * 1_048_576;

export interface Manifest extends DaySums {
  readonly orgId: string;
  readonly day: string;
  readonly usage: readonly ArchivedFile[];
  readonly focus: readonly ArchivedFile[];
}

export const manifestKey = (orgId: string, day: string): string => `manifests/org=${orgId}/day=${day}.json`;
export const dayFolder = (kind: 'usage' | 'focus', orgId: string, day: string): string =>
  `${kind}/org=${orgId}/day=${day}`;

export const formatManifest = (manifest: Manifest): Buffer =>
  Buffer.from(`${JSON.stringify({ version: MANIFEST_VERSION, ...manifest }, null, 2)}\n`);

export function sumFiles(files: readonly ArchivedFile[]): DaySums {
  return {
    rows: files.reduce((sum, { rows }) => sum + rows, 0),
    costNanos: String(files.reduce((sum, { costNanos }) => sum + BigInt(costNanos), 0n)),
  };
}

/** Null: no manifest of that day of the organization. */
export function parseManifest(text: Buffer, orgId: string, day: string): Manifest | null {
  let value: unknown;
  try {
    value = JSON.parse(text.toString('utf8'));
  } catch {
    return null;
  }
  if (typeof value !== 'object' || value === null) return null;
  const manifest = value as Manifest & { readonly version: number };
  const isValid =
    manifest.version === MANIFEST_VERSION &&
    manifest.orgId === orgId &&
    manifest.day === day &&
    isSums(manifest) &&
    areFiles(manifest.usage, dayFolder('usage', orgId, day)) &&
    areFiles(manifest.focus, dayFolder('focus', orgId, day));
  return isValid ? manifest : null;
}

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;
const isSums = ({ rows, costNanos }: DaySums): boolean =>
  isCount(rows) && typeof costNanos === 'string' && /^\d{1,30}$/.test(costNanos);

/** Keys name the parts of the folder in order: a manifest cannot lead to another file. */
const areFiles = (files: unknown, folder: string): boolean =>
  Array.isArray(files) &&
  files.every(
    (file: ArchivedFile | null, i) =>
      file !== null &&
      typeof file === 'object' &&
      file.key === partKey(folder, i) &&
      isSums(file) &&
      isCount(file.bytes) &&
      typeof file.sha256 === 'string',
  );

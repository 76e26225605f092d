/**
 * Writes rows as Parquet parts of bounded size, and reads a part back to verify it. A part holds a few row groups, so
 * memory is bounded by one part whatever the day holds.
 */
import { createHash } from 'node:crypto';
import { parquetMetadataAsync, parquetRead } from 'hyparquet';
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import { type ArchiveColumn, type ParquetValue, parquetSchema, toParquetValue } from './archive-columns.js';
import { HeapGrowthLimiter } from './heap-growth-limiter.js';
import type { ObjectStore } from './object-store.js';

/** Live until the group is written. */
const ROWS_PER_GROUP = 4_000;
/** Repeated texts of a column are held once, up to this many. */
const SHARED_TEXTS_MAX = 1_000;
const ROW_GROUPS_PER_PART = 10;
/** A part rarely grows beyond it; each growth copies the part. */
const PART_BYTES_EXPECTED = 6 * 1_048_576;
const PART_DIGITS = 5;

export interface ArchivedFile {
  readonly key: string;
  readonly rows: number;
  /** Decimal text: a sum may exceed 2^53. */
  readonly costNanos: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** A row as Postgres returns it: texts and nulls by column name. */
export type TextRow = Readonly<Record<string, string | null>>;

/** What all parts of one archiver share, one after the other. */
export class PartMemory {
  readonly buffer = new ByteWriter(PART_BYTES_EXPECTED);
  readonly growth = new HeapGrowthLimiter();

  /** The empty buffer. The bytes of the previous part are no longer valid. */
  emptyBuffer(): ByteWriter {
    this.buffer.offset = 0;
    this.buffer.index = 0;
    return this.buffer;
  }
}

export class PartWriter {
  readonly files: ArchivedFile[] = [];
  #writer: ParquetWriter | null = null;
  /** Values of the next row group, by column. */
  #data: ParquetValue[][] = [];
  #sharedTexts: Map<string, string>[] = [];
  #pendingRows = 0;
  #groups = 0;
  #rows = 0;
  #nanos = 0n;

  constructor(
    readonly store: ObjectStore,
    readonly memory: PartMemory,
    /** Parts are `${folder}/part-00000.parquet` and so on. */
    readonly folder: string,
    readonly columns: readonly ArchiveColumn[],
    /** The column whose sum a manifest states. */
    readonly nanosColumn: string,
  ) {}

  async write(rows: readonly TextRow[]): Promise<void> {
    for (const row of rows) {
      this.#append(row);
      if (this.#pendingRows === ROWS_PER_GROUP) await this.#writeGroup();
    }
  }

  #append(row: TextRow): void {
    for (const [i, { name, type }] of this.columns.entries()) {
      this.#data[i] ??= [];
      this.#sharedTexts[i] ??= new Map();
      const value = toParquetValue(type, row[name] ?? null);
      this.#data[i].push(typeof value === 'string' ? shareText(this.#sharedTexts[i], value) : value);
    }
    this.#nanos += BigInt(row[this.nanosColumn]!);
    this.#pendingRows++;
  }

  async #writeGroup(): Promise<void> {
    if (this.#pendingRows === 0) return;
    const data = this.#data;
    const rows = this.#pendingRows;
    this.#data = [];
    this.#sharedTexts = [];
    this.#pendingRows = 0;
    this.#writer ??= new ParquetWriter({
      writer: this.memory.emptyBuffer(),
      schema: parquetSchema(this.columns),
    });
    await this.#writer.write({
      columnData: this.columns.map(({ name }, i) => ({ name, data: data[i]! })),
      rowGroupSize: rows,
    });
    this.memory.growth.collectIfGrown();
    this.#rows += rows;
    if (++this.#groups === ROW_GROUPS_PER_PART) await this.#storePart();
  }

  /** Stores the rows that are not stored yet. */
  async finish(): Promise<void> {
    await this.#writeGroup();
    await this.#storePart();
  }

  async #storePart(): Promise<void> {
    if (this.#writer === null) return;
    await this.#writer.finish();
    const bytes = this.#writer.writer.getBytes();
    const key = partKey(this.folder, this.files.length);
    await this.store.put(key, bytes);
    this.files.push({
      key,
      rows: this.#rows,
      costNanos: String(this.#nanos),
      bytes: bytes.length,
      sha256: sha256Of(bytes),
    });
    this.#writer = null;
    this.#groups = 0;
    this.#rows = 0;
    this.#nanos = 0n;
  }
}

export const partKey = (folder: string, index: number): string =>
  `${folder}/part-${String(index).padStart(PART_DIGITS, '0')}.parquet`;

function shareText(shared: Map<string, string>, text: string): string {
  const known = shared.get(text);
  if (known !== undefined) return known;
  if (shared.size < SHARED_TEXTS_MAX) shared.set(text, text);
  return text;
}

export const sha256Of = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** Reads a stored part and compares it with its entry in the manifest. Returns what is wrong, or null. */
export async function findPartProblem(
  store: ObjectStore,
  { key, rows, costNanos, bytes, sha256 }: ArchivedFile,
  nanosColumn: string,
): Promise<string | null> {
  const stored = await store.get(key, bytes);
  if (stored === null) return `${key} is missing`;
  if (stored.length !== bytes || sha256Of(stored) !== sha256) return `${key} has another checksum than its manifest`;
  const found = await readPart(stored, nanosColumn).catch(() => null);
  if (found === null) return `${key} is no Parquet file of the archive`;
  if (found.rows !== rows) return `${key} has ${found.rows} rows instead of ${rows}`;
  return String(found.nanos) === costNanos
    ? null
    : `${key} sums up to ${found.nanos} nano-dollars instead of ${costNanos}`;
}

/** Rows and sum of a part. Throws on anything that is no Parquet file with that column. */
async function readPart(stored: Buffer, nanosColumn: string): Promise<{ rows: number; nanos: bigint }> {
  const file = {
    byteLength: stored.length,
    slice: (start: number, end?: number): ArrayBuffer => Uint8Array.from(stored.subarray(start, end)).buffer,
  };
  const metadata = await parquetMetadataAsync(file);
  let nanos = 0n;
  await parquetRead({
    file,
    metadata,
    columns: [nanosColumn],
    onChunk: ({ columnData }) => {
      for (const value of columnData as Iterable<bigint | number>) nanos += BigInt(value);
    },
  });
  return { rows: Number(metadata.num_rows), nanos };
}

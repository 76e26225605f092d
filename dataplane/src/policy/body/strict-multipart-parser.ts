/**
 * Parses the fields of a `multipart/form-data` body that every parser reads alike. Rejects what only some parsers take
 * for a part, a header or a boundary: a boundary without CRLF, text before the first one, names with ambiguous quoting,
 * parts with an encoding of their own.
 */

type MultipartProblem = 'not_form' | 'ambiguous';

interface MultipartField {
  readonly name: string;
  /** Null for a file, and for a field over 64 KiB. */
  readonly value: string | null;
  /** A slice of the body, not a copy. */
  readonly bytes: Buffer;
}

const CONTENT_TYPE =
  /^multipart\/form-data\s*;\s*boundary=(?:"([0-9A-Za-z'()+_,./:=? -]{1,70})"|([0-9A-Za-z'()+_./-]{1,70}))\s*$/i;
const DISPOSITION =
  /^content-disposition: ?form-data((?:; ?(?:name|filename)="[^"\\]*"|; ?filename\*=[!#$&+.^_`|~0-9A-Za-z%'-]+)+)$/i;
const PARAMETER = /; ?(name|filename)="([^"\\]*)"/gi;
const PLAIN_HEADER = /^(?:content-type|content-length): ?[\x20-\x7e\x80-\xff]*$/i;
const PART_HEADER_BYTES_MAX = 4_096;
const PARTS_MAX = 1_000;
const FIELD_BYTES_MAX = 65_536;

/** The boundary of a content type; null for any other type, and for other parameters beside it. */
export function parseStrictBoundary(contentType: string): string | null {
  const found = CONTENT_TYPE.exec(contentType);
  return found === null ? null : (found[1] ?? found[2])!;
}

/** Returns the fields in their order, or a problem. A field longer than 64 KiB counts as a file. */
export function parseStrictMultipart(body: Buffer, boundary: string): readonly MultipartField[] | MultipartProblem {
  const delimiter = Buffer.from(`--${boundary}`, 'latin1');
  const fields: MultipartField[] = [];
  if (body.indexOf(delimiter) !== 0) return 'not_form';
  let at = delimiter.length;
  while (!isFinalBoundary(body, at)) {
    if (!isCrlf(body, at) || fields.length >= PARTS_MAX) return 'not_form';
    const start = at + 2;
    const next = body.indexOf(delimiter, start);
    if (next === -1) return 'not_form';
    if (next < start + 2 || !isCrlf(body, next - 2)) return 'ambiguous'; // only some parsers take it for a boundary
    const field = parsePart(body, start, next - 2);
    if (typeof field === 'string') return field;
    fields.push(field);
    at = next + delimiter.length;
  }
  const rest = body.length - at - 2;
  return rest === 0 || (rest === 2 && isCrlf(body, at + 2)) ? fields : 'ambiguous';
}

function parsePart(body: Buffer, start: number, end: number): MultipartField | MultipartProblem {
  const blank = body.subarray(start, Math.min(end, start + PART_HEADER_BYTES_MAX)).indexOf('\r\n\r\n');
  if (blank === -1) return 'ambiguous';
  let name: string | null = null;
  let isFile = false;
  for (const line of body.toString('latin1', start, start + blank).split('\r\n')) {
    const disposition = DISPOSITION.exec(line);
    if (disposition === null) {
      if (!PLAIN_HEADER.test(line)) return 'ambiguous';
      continue;
    }
    if (name !== null) return 'ambiguous';
    isFile = /filename/i.test(disposition[1]!.replace(PARAMETER, (_all, key: string) => `; ${key}`));
    for (const [, key, value] of disposition[1]!.matchAll(PARAMETER)) {
      if (key!.toLowerCase() !== 'name') continue;
      if (name !== null) return 'ambiguous';
      name = Buffer.from(value!, 'latin1').toString();
    }
  }
  if (name === null) return 'ambiguous';
  const from = start + blank + 4;
  const bytes = body.subarray(from, end);
  return { name, value: isFile || bytes.length > FIELD_BYTES_MAX ? null : bytes.toString(), bytes };
}

const isCrlf = (body: Buffer, at: number): boolean => body[at] === 0x0d && body[at + 1] === 0x0a;
const isFinalBoundary = (body: Buffer, at: number): boolean => body[at] === 0x2d && body[at + 1] === 0x2d;

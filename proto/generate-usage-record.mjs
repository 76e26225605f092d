/**
 * Makes the codec of `UsageRecord`, the one message that comes with every call of an agent: an encoder that writes into
 * a given buffer and a reader that fills two flat objects. The codec of all other messages looks up every field by name
 * and makes an object of 31 fields and 14 strings per record (2026-11: 9 % of what a request took). One source for
 * both, gateway.proto, so a field is added there and nowhere else.
 *
 * Fields marked `shared` are what the records of one agent and kind of call have in common. They are read into an object
 * of their own, so that a batch holds it once.
 */
const WIRE_TYPES = {
  string: { kind: 'text', wire: 2, type: 'string', initial: "''" },
  bool: { kind: 'flag', wire: 0, type: 'boolean', initial: 'false' },
  uint32: { kind: 'whole', wire: 0, type: 'number', initial: '0' },
  uint64: { kind: 'whole', wire: 0, type: 'number', initial: '0' },
};
const VARINT_BYTES_MAX = 8;
const BYTES_PER_UNIT_MAX = 3;

/** The source of generated/usage-record.ts. `message`: the reflected UsageRecord of protobufjs. */
export function usageRecordSource(message) {
  const fields = message.fieldsArray.map(fieldOf).sort((a, b) => a.number - b.number);
  const shared = fields.filter((field) => field.shared);
  const own = fields.filter((field) => !field.shared);
  const texts = fields.filter(({ kind }) => kind === 'text');
  return `// Made by generate-usage-record.mjs from gateway.proto.
import type { IUsageRecord } from '../messages.js';
import { DELIMITED, MalformedMessage, type StringMemo, VARINT, type WireReader } from '../wire-reader.js';
import { lengthOf, putFlag, putText, putVarint, putWhole } from '../wire-writer.js';

/** What tests need to know of each field. */
export const USAGE_RECORD_FIELDS = [
${fields.map((f) => `  { name: '${f.name}', number: ${f.number}, type: '${f.protoType}', shared: ${f.shared} },`).join('\n')}
] as const satisfies readonly { readonly name: keyof IUsageRecord; readonly [more: string]: unknown }[];

/** An upper bound for what {@link encodeUsageRecord} writes. */
export function usageRecordBytesMax(record: IUsageRecord): number {
  return (
    ${fields.length * (2 + VARINT_BYTES_MAX)} +
    ${BYTES_PER_UNIT_MAX} *
      (${texts.map(({ name }) => `lengthOf(record.${name})`).join(' +\n        ')})
  );
}

/**
 * Writes the record at \`at\` and returns where it ends. There must be room for {@link usageRecordBytesMax}. Fields at
 * their default are left out, as proto3 has it, but for optional ones; a number that is none or negative counts as 0.
 */
export function encodeUsageRecord(record: IUsageRecord, buffer: Buffer, at: number): number {
  let end = at;
${fields.map(encodeLine).join('\n')}
  return end;
}

/** The fields that records of one kind share. */
export class UsageRecordKind {
${shared.map(declaration).join('\n')}

  sameAs(other: UsageRecordKind): boolean {
    return (
      ${shared.map(({ name }) => `this.${name} === other.${name}`).join(' &&\n      ')}
    );
  }

  copyTo(copy: UsageRecordKind): void {
${shared.map(({ name }) => `    copy.${name} = this.${name};`).join('\n')}
  }

  reset(): void {
${shared.map(({ name, initial }) => `    this.${name} = ${initial};`).join('\n')}
  }
}

/** The fields that each record has for itself. */
export class UsageRecordFigures {
${own.map(declaration).join('\n')}
}

/** Reads up to \`end\`, where the message ends, into objects at their defaults. Fields of later versions are skipped. */
export function readUsageRecord(
  reader: WireReader,
  end: number,
  strings: StringMemo,
  kind: UsageRecordKind,
  figures: UsageRecordFigures,
): void {
  while (reader.at < end) {
    const tag = reader.varint();
    const wire = tag & 7;
    if (wire === DELIMITED) {
      const stop = reader.delimited();
      readText(tag >>> 3, reader, stop, strings, kind, figures);
      reader.at = stop;
    } else if (wire === VARINT) readNumber(tag >>> 3, reader.varint(), kind, figures);
    else reader.skip(wire);
  }
  if (reader.at !== end) throw new MalformedMessage();
}

function readText(
  field: number,
  reader: WireReader,
  stop: number,
  strings: StringMemo,
  kind: UsageRecordKind,
  figures: UsageRecordFigures,
): void {
  switch (field) {
${texts.map((field) => `    case ${field.number}:\n      ${targetOf(field)} = ${textValue(field)};\n      return;`).join('\n')}
  }
}

function readNumber(field: number, value: number, kind: UsageRecordKind, figures: UsageRecordFigures): void {
  switch (field) {
${fields
  .filter(({ kind }) => kind !== 'text')
  .map(
    (f) =>
      `    case ${f.number}:\n      ${targetOf(f)} = ${f.kind === 'flag' ? 'value !== 0' : 'value'};\n      return;`,
  )
  .join('\n')}
  }
}
`;
}

function fieldOf(field) {
  const isEnum = field.resolve().resolvedType !== null;
  const wire = WIRE_TYPES[isEnum ? 'uint32' : field.type];
  const shared = field.options?.['(shared)'] === true;
  if (wire === undefined || field.repeated)
    throw new Error(`UsageRecord.${field.name}: ${field.type} is not supported`);
  if (field.id >= 1 << 11) throw new Error(`UsageRecord.${field.name}: its tag has more than two bytes`);
  const optional = field.hasPresence != null && field.hasPresence !== false;
  if (optional && (shared || wire.kind !== 'whole')) throw new Error(`UsageRecord.${field.name} must not be optional`);
  const protoType = isEnum ? 'enum' : field.type;
  return { ...wire, name: field.name, number: field.id, shared, optional, protoType };
}

function encodeLine({ name, number, kind, wire, optional }) {
  const tag = (number << 3) | wire;
  const [first, second] = tag < 0x80 ? [tag, 0] : [(tag & 0x7f) | 0x80, tag >> 7];
  if (kind === 'whole' && optional) {
    return `  if (record.${name} === 0) end = putVarint(buffer, end, ${first}, ${second}, 0);
  else end = putWhole(buffer, end, ${first}, ${second}, record.${name});`;
  }
  const put = { text: 'putText', whole: 'putWhole', flag: 'putFlag' }[kind];
  return `  end = ${put}(buffer, end, ${first}, ${second}, record.${name});`;
}

function declaration({ name, type, initial, optional }) {
  return optional
    ? `  /** Null: absent, which is not 0. */\n  ${name}: ${type} | null = null;`
    : `  ${name} = ${initial};`;
}

const targetOf = ({ name, shared }) => `${shared ? 'kind' : 'figures'}.${name}`;

// No two records have the same id: remembering it would only push other strings out.
const textValue = ({ name }) =>
  name === 'id' ? "reader.bytes.toString('utf8', reader.at, stop)" : 'strings.get(reader.bytes, reader.at, stop)';

/**
 * Upper bound of the input tokens of one prompt: text by its bytes, images and pages by the vendor's rules, and the
 * whole window for content outside of the body (files, URLs, earlier responses, stored prompts). Reads bodies after
 * JSON.parse. Pure.
 */
import { inflateSync } from 'node:zlib';
import {
  ANTHROPIC_TOOL_TOKENS,
  AUDIO_INPUT,
  IMAGE_DETAIL,
  type ImageRule,
  type ModelLimits,
  TOKENS_PER_MESSAGE,
} from './vendor-limits.js';

export type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json };
type Fields = { readonly [name: string]: Json };

/** Tokens by the dimensions that have prices of their own. */
export interface PromptTokens {
  readonly text: number;
  readonly image: number;
  readonly audio: number;
}

export const sumPromptTokens = ({ text, image, audio }: PromptTokens): number => text + image + audio;

/** Fields of a body that are not part of the prompt. */
const NON_PROMPT_FIELDS: ReadonlySet<string> = new Set([
  'model',
  'max_tokens',
  'max_completion_tokens',
  'max_output_tokens',
  'max_tokens_to_sample',
  'n',
  'stream',
  'stream_options',
  'temperature',
  'service_tier',
  'speed',
  'inference_geo',
  'metadata',
  'modalities',
  'audio',
  'store',
  'thinking',
  'reasoning',
]);
/** Items of the Responses API that may be only ids in the body: their content is stored at the vendor. */
const STORED_ITEMS: ReadonlySet<string> = new Set(['item_reference', 'image_generation_call', 'reasoning']);

/** Upper bound: no tokenizer creates more tokens than bytes. */
export function countTextBytes(value: Json): number {
  if (typeof value === 'string') return Buffer.byteLength(value);
  if (value === null || typeof value !== 'object') return String(value).length;
  if (Array.isArray(value)) return value.reduce((sum: number, item: Json) => sum + countTextBytes(item), 0);
  return Object.entries(value).reduce((sum, [name, item]) => sum + Buffer.byteLength(name) + countTextBytes(item), 0);
}

export function maxPromptTokens(vendor: string, path: string, body: Fields, limits: ModelLimits): PromptTokens {
  const prompt = new PromptTokenCounter(limits);
  for (const [name, value] of Object.entries(body)) if (!NON_PROMPT_FIELDS.has(name)) prompt.add(value);
  const stored = path === '/v1/responses' && value(body.prompt) !== null;
  if (stored || value(body.previous_response_id) !== null || value(body.conversation) !== null) prompt.addWindow();
  if (vendor === 'anthropic' && Array.isArray(body.tools) && body.tools.length > 0) {
    prompt.addText(limits.toolPromptTokens ?? 0);
    for (const tool of body.tools) prompt.addText(clientToolTokens(asFields(tool)));
  }
  return prompt;
}

const value = (of: Json | undefined): Json => of ?? null;
const asFields = (of: Json | undefined): Fields =>
  typeof of === 'object' && of !== null && !Array.isArray(of) ? (of as Fields) : {};

function clientToolTokens({ type }: Fields): number {
  const known = Object.entries(ANTHROPIC_TOOL_TOKENS).find(([start]) => String(type ?? '').startsWith(start));
  return known?.[1] ?? 0;
}

class PromptTokenCounter implements PromptTokens {
  text = 0;
  image = 0;
  audio = 0;
  readonly #limits: ModelLimits;

  constructor(limits: ModelLimits) {
    this.#limits = limits;
  }

  addText(tokens: number): void {
    this.text += tokens;
  }

  /** Counts a whole window for content outside of the body. */
  addWindow(): void {
    this.text += this.#limits.tokensInMax;
  }

  add(of: Json): void {
    if (Array.isArray(of)) for (const item of of) this.add(item);
    else if (typeof of === 'object' && of !== null) this.#addObject(of as Fields);
    else this.text += countTextBytes(of);
  }

  #addObject(of: Fields): void {
    const { type } = of;
    if (typeof of.role === 'string') this.text += TOKENS_PER_MESSAGE;
    if (type === 'image_url') this.#addOpenAiImage(of.image_url, asFields(of.image_url).detail);
    else if (type === 'input_image' || type === 'computer_screenshot') {
      this.#addOpenAiImage(of.image_url ?? of.file_id, of.detail);
    } else if (type === 'image') this.#addSource(asFields(of.source), (data) => this.#addImage(data, undefined));
    else if (type === 'document') this.#addDocument(of);
    else if (type === 'file') this.#addFile(asFields(of.file));
    else if (type === 'input_file') this.#addFile(of);
    else if (type === 'input_audio') this.#addAudio(asFields(of.input_audio));
    else if (STORED_ITEMS.has(String(type)) && of.encrypted_content === undefined) this.addWindow();
    else this.#addMembers(of);
  }

  #addMembers(of: Fields): void {
    for (const [name, member] of Object.entries(of)) {
      this.text += Buffer.byteLength(name);
      // Audio of an earlier assistant message, by reference.
      if (name === 'audio' && typeof asFields(member).id === 'string') this.audio += this.#limits.tokensInMax;
      else this.add(member);
    }
  }

  #addOpenAiImage(of: Json | undefined, detail: Json | undefined): void {
    const address = typeof of === 'string' ? of : String(asFields(of).url);
    const inline = /^data:[^,]*;base64,(.*)$/s.exec(address);
    this.#addImage(inline === null ? null : Buffer.from(inline[1]!, 'base64'), detail);
  }

  /** `data`: null when the image is not in the body. */
  #addImage(data: Buffer | null, detail: Json | undefined): void {
    const { image, tokensInMax } = this.#limits;
    if (image !== null) this.image += Math.min(tokensInMax, imageTokens(image, data, detail));
  }

  #addSource(source: Fields, add: (data: Buffer | null) => void): void {
    add(source.type === 'base64' ? Buffer.from(String(source.data), 'base64') : null);
  }

  #addDocument({ source, ...rest }: Fields): void {
    const from = asFields(source);
    this.#addMembers(rest);
    if (from.type === 'text' || from.type === 'content') this.#addMembers(from);
    else this.#addSource(from, (data) => this.#addPages(data));
  }

  #addFile(file: Fields): void {
    const inline = /^data:([^;,]*);base64,(.*)$/s.exec(String(file.file_data ?? ''));
    const data = inline === null ? null : Buffer.from(inline[2]!, 'base64');
    if (inline?.[1] === 'text/plain') this.text += data!.length;
    else this.#addPages(data);
  }

  /** Counts text and picture of each page; a file that is not a PDF or not in the body may fill the window. */
  #addPages(data: Buffer | null): void {
    const pages = data === null ? null : pdfPageBytes(data);
    if (pages === null) {
      this.addWindow();
      return;
    }
    const { image } = this.#limits;
    for (const bytes of pages) {
      this.text += bytes;
      if (image !== null) this.image += imageTokens(image, null, 'high');
    }
  }

  #addAudio({ data, format }: Fields): void {
    const bytes = Buffer.from(String(data), 'base64');
    const seconds = format === 'wav' ? audioSeconds(bytes) : bytes.length / AUDIO_INPUT.mp3BytesPerSecondMin;
    this.audio += Math.ceil(seconds * AUDIO_INPUT.tokensPerSecond);
  }
}

/** `data`: null when the size is unknown. */
function imageTokens(rule: ImageRule, data: Buffer | null, detail: Json | undefined): number {
  const size = data === null ? null : readPngSize(data);
  if (rule.kind === 'tiles') {
    if (detail === 'low') return rule.base;
    return rule.base + rule.perTile * (size === null ? 8 : countTiles(size));
  }
  if (rule.kind === 'visual_tokens') {
    return Math.min(rule.tokensMax, size === null ? rule.tokensMax : countPatches(size, 28));
  }
  let max = rule.patchesMax;
  // Measured: the small models ignore `detail`.
  if (max > IMAGE_DETAIL.highPatchesMax && detail === 'high') max = IMAGE_DETAIL.highPatchesMax;
  else if (max > IMAGE_DETAIL.highPatchesMax && detail === 'low') max = IMAGE_DETAIL.lowPatchesMax;
  const patches = Math.min(max, size === null ? max : countPatches(size, 32));
  return Math.ceil(patches * rule.multiplier);
}

type Size = readonly [width: number, height: number];

const countPatches = ([width, height]: Size, side: number): number =>
  Math.ceil(width / side) * Math.ceil(height / side);

/** Scaled down to fit 2048 px, then to 768 px on the short side; never scaled up. */
function countTiles([width, height]: Size): number {
  const fit = Math.min(1, 2_048 / Math.max(width, height));
  const scale = fit * Math.min(1, 768 / (fit * Math.min(width, height)));
  return Math.ceil((width * scale) / 512) * Math.ceil((height * scale) / 512);
}

function readPngSize(data: Buffer): Size | null {
  if (data.toString('latin1', 1, 4) !== 'PNG' || data.length < 24) return null;
  return [data.readUInt32BE(16), data.readUInt32BE(20)];
}

/** Unpacked bytes of the content of each page of a plain PDF; null when the pages cannot be found. */
function pdfPageBytes(data: Buffer): number[] | null {
  const text = data.toString('latin1');
  const contents = new Map<string, number>();
  for (const [, id, dictionary, stream] of text.matchAll(/(\d+) 0 obj\s*<<([^>]*)>>\s*stream\n(.*?)\nendstream/gs)) {
    const packed = Buffer.from(stream!, 'latin1');
    contents.set(id!, dictionary!.includes('/FlateDecode') ? inflateSync(packed).length : packed.length);
  }
  const pages = [...text.matchAll(/\/Type \/Page\b[^>]*\/Contents (\d+) 0 R/g)];
  if (pages.length === 0) return null;
  return pages.map(([, id]) => contents.get(id!) ?? data.length);
}

/** Whole seconds of a WAV or FLAC file, by its header (RFC 9639 section 8.2). */
export function audioSeconds(file: Buffer): number {
  if (file.toString('latin1', 0, 4) === 'RIFF') return Math.ceil((file.length - 44) / file.readUInt32LE(28));
  if (file.toString('latin1', 0, 4) !== 'fLaC') throw new Error('an audio file of an unknown format');
  const packed = file.readBigUInt64BE(18); // sample rate 20 bits, channels 3, bits per sample 5, samples 36
  return Math.ceil(Number(packed & 0xfffffffffn) / Number(packed >> 44n));
}

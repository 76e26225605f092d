/**
 * Facts about the content of a request that a model reads beyond its text: images, PDFs, opaque blocks, and references
 * to content outside the body. Reads blocks of OpenAI's, Anthropic's, Google's, Amazon's and Cohere's APIs at any depth.
 * An unknown block with an address, a file, an id or data counts as a reference.
 */

import { InflateBudget, measurePdf } from '../../scan/media/pdf-pages-and-text-upper-bound.js';
import {
  countItems,
  decodeStringAt,
  type JsonObjectNode,
  type JsonSpan,
  STRINGS,
} from '../../scan/walk-json-objects.js';

/** Members of a block that tell what the model reads. */
export const CONTENT_MEMBERS: readonly string[] = [
  'type',
  'role',
  'id',
  'url',
  'data',
  'source',
  'file',
  'file_id',
  'file_url',
  'file_data',
  'image_url',
  'image',
  'images',
  'document_url',
  'input_audio',
  'audio_url',
  'video_url',
  'media_type',
  'cached_content',
  'encrypted_content',
  'signature',
  'ttl',
  'enabled',
];

/** Lifetime of what the request writes to the provider's prompt cache. */
export type CacheTtl = 'none' | '5m' | '1h';

/** Members of the document that are rendered as text or never reach a model. A `url` there is only a word. */
const TEXT_ROOTS: ReadonlySet<string> = new Set([
  'tools',
  'functions',
  'tool_choice',
  'response_format',
  'text',
  'output_config',
  'output_format',
  'metadata',
  'toolconfig',
  'documents',
  'labels',
]);
/** Members that describe the source of text or the request to a tool. The provider fetches nothing for them. */
const DESCRIPTIVE_MEMBERS: ReadonlySet<string> = new Set([
  'annotations',
  'citations',
  'action',
  'sources',
  'functioncall',
  'functionresponse',
]);
/** Arguments and results of tool calls by the member of the document that has the messages; schemas of responses. */
const TEXT_MEMBERS: Readonly<Record<string, ReadonlySet<string>>> = {
  messages: new Set(['input', 'json']),
  contents: new Set(['args', 'response']),
  generationconfig: new Set(['responseschema', 'responsejsonschema']),
};
/** Documents whose text is at most as long as their base64. */
const TEXT_FORMATS: ReadonlySet<string> = new Set(['txt', 'md', 'csv', 'html']);
const RESULT_TYPES: ReadonlySet<string> = new Set(['web_search_result', 'search_result', 'web_fetch_result']);
const IMAGE_TYPES: ReadonlySet<string> = new Set(['image', 'input_image', 'image_url', 'computer_screenshot']);
/** Block types with an id beside their complete content. */
const SELF_CONTAINED_TYPES: ReadonlySet<string> = new Set([
  'message',
  'function',
  'custom',
  'function_call',
  'function_call_output',
  'custom_tool_call',
  'custom_tool_call_output',
  'computer_call',
  'computer_call_output',
  'local_shell_call',
  'local_shell_call_output',
  'shell_call',
  'shell_call_output',
  'apply_patch_call',
  'apply_patch_call_output',
  'tool_use',
  'server_tool_use',
  'mcp_tool_use',
]);
/** Addresses or data of documents, sound and films that a block has as a string (Mistral). Objects have an own member. */
const ADDRESS_MEMBERS: readonly string[] = ['document_url', 'input_audio', 'audio_url', 'video_url'];
const DATA_URL_IMAGE = Buffer.from('"data:image/');
/**
 * For a full page, from Anthropic's documentation (https://platform.claude.com/docs/en/build-with-claude/pdf-support).
 */
const PAGE_TOKENS = 3_000;
const PDF_TYPE = /^data:application\/pdf[;,]/i;

/** Whether this member is rendered as text. Arguments of tool calls are, whatever their names. */
export function isTextOnlyMember(parent: JsonObjectNode, member: string): boolean {
  return (parent.parent === null && TEXT_ROOTS.has(member)) || TEXT_MEMBERS[parent.rootMember]?.has(member) === true;
}

export class ContentFacts {
  /** Images that the model reads. */
  images = 0;
  /** Pages of PDFs; the model reads each as text and as an image. */
  pages = 0;
  /** Upper bound for the bytes of text on these pages. */
  pageTextBytes = 0;
  /** Bytes of the body that count as images or pages, not as text. */
  mediaBytes = 0;
  /** Bytes of the body with text that only the provider can read. */
  opaqueBytes = 0;
  /** The request refers to content outside the body, or to content of unknown size. */
  hasExternalContent = false;
  /** The request uses a cache of Gemini, at any depth (`extra_body.google`); it can have tools. */
  hasCachedContent = false;
  cacheTtl: CacheTtl = 'none';
  /** Documents are split into citable sentences, which adds tokens. */
  hasCitations = false;
  readonly #body: Buffer;
  readonly #inflateBudget: InflateBudget;

  constructor(body: Buffer) {
    this.#body = body;
    this.#inflateBudget = new InflateBudget(body.length);
  }

  /** Adds an object of the document, at its end. */
  add(object: JsonObjectNode): void {
    if (object.name === 'cache_control' || object.name === 'cachepoint') this.#addCaching(object);
    // Undocumented, but providers read it: the image itself, or its address.
    if (object.values.has('image') && !object.isIgnored) this.images++;
    if (object.values.has('cached_content') && !object.isIgnored) this.hasCachedContent = true;
    if (!object.isIgnored) this.#addListedImages(object.values.get('images'));
    if (object.name === 'citations' && object.values.has('enabled')) this.hasCitations = true;
    if (object.isIgnored || object.parent === null || DESCRIPTIVE_MEMBERS.has(object.name)) return;
    if (object.name === 'source') return; // handled with its block
    const { values, objects } = object;
    this.#addOpaque(values.get('thoughtsignature') ?? values.get('redactedcontent'));
    if (values.has('fileuri')) this.hasExternalContent = true;
    if (object.name === 'inlinedata') {
      this.#addInlineData(object);
      return;
    }
    const type = this.#decodeMember(object, 'type') ?? '';
    if (RESULT_TYPES.has(type)) {
      this.#addOpaque(values.get('encrypted_content'));
      return;
    }
    if (object.name === 'image_url') {
      this.#addImage(values.get('url'));
      return;
    }
    const source = objects.get('source');
    if (source !== undefined && values.has('format')) this.#addConverseMedia(object, source);
    else if (source !== undefined) this.#addSource(type, source);
    const image = values.get('image_url');
    if (image !== undefined && !objects.has('image_url')) this.#addImage(image);
    if (values.has('file_data')) this.#addDocument(values.get('file_data')!, false);
    if (values.has('file_id')) {
      if (IMAGE_TYPES.has(type)) this.images++;
      else this.hasExternalContent = true;
    }
    if (values.has('file_url') || values.has('url')) this.hasExternalContent = true;
    if (ADDRESS_MEMBERS.some((member) => values.has(member) && !objects.has(member))) this.hasExternalContent = true;
    if (values.has('data')) {
      if (type === 'redacted_thinking') this.#addOpaque(values.get('data'));
      else this.hasExternalContent = true; // audio, or an unknown kind of data
    }
    if (type === 'compaction') this.hasExternalContent = true;
    else this.#addOpaque(values.get('encrypted_content'));
    this.#addOpaque(values.get('signature'));
    if (type === 'image_generation_call') this.images++;
    if (type === 'item_reference' || (values.has('id') && !this.#isSelfContained(object, type)))
      this.hasExternalContent = true;
  }

  #isSelfContained({ values }: JsonObjectNode, type: string): boolean {
    if (SELF_CONTAINED_TYPES.has(type)) return true;
    const own = (member: string): boolean => values.get(member)?.isAltSpelling === false;
    return type === 'reasoning' ? own('encrypted_content') : type === '' && own('role');
  }

  #addCaching(object: JsonObjectNode): void {
    const ttl = object.values.get('ttl');
    if (ttl !== undefined && this.#decodeMember(object, 'ttl') !== '5m') this.cacheTtl = '1h';
    else if (this.cacheTtl === 'none') this.cacheTtl = '5m';
  }

  /** Counts one image. Its cost does not depend on its source. */
  #addImage(address: JsonSpan | undefined): void {
    this.images++;
    if (address === undefined) return;
    const { start, end } = address;
    const prefix = this.#body.subarray(start, start + DATA_URL_IMAGE.length);
    if (prefix.equals(DATA_URL_IMAGE)) this.mediaBytes += end - start;
    else if (/^data:/i.test(this.#decodePrefix(address))) this.hasExternalContent = true; // a data URL without an image
  }

  /** Counts images that a list has as strings (Cohere, Llama). Objects in it count as blocks. */
  #addListedImages(list: JsonSpan | undefined): void {
    if (list !== undefined) this.images += countItems(this.#body, list, STRINGS);
  }

  /** Adds an image or document of Anthropic's `source` objects. */
  #addSource(type: string, source: JsonObjectNode): void {
    const kind = this.#decodeMember(source, 'type');
    if (type === 'image') {
      this.images++;
      const data = source.values.get('data');
      if (kind === 'base64' && data !== undefined) this.mediaBytes += data.end - data.start;
    } else if (kind === 'base64' && source.values.has('data')) {
      const isPdf = this.#decodeMember(source, 'media_type')?.toLowerCase() === 'application/pdf';
      if (isPdf) this.#addDocument(source.values.get('data')!, true);
      else this.hasExternalContent = true;
    } else if (kind !== 'text' && kind !== 'content') this.hasExternalContent = true;
  }

  /** Adds Google's media in the body. */
  #addInlineData(object: JsonObjectNode): void {
    const data = object.values.get('data');
    const mimeType = this.#decodeMember(object, 'mimetype')?.toLowerCase() ?? '';
    if (data === undefined || mimeType.startsWith('text/')) return;
    if (mimeType.startsWith('image/')) {
      this.images++;
      this.mediaBytes += data.end - data.start;
    } else if (mimeType === 'application/pdf') this.#addDocument(data, true);
    else this.hasExternalContent = true; // sound or a film of unknown length
  }

  /** Adds an image, document, film or sound of Amazon's Converse. Images are counted with the block around them. */
  #addConverseMedia({ name, values }: JsonObjectNode, source: JsonObjectNode): void {
    const bytes = source.values.get('bytes');
    const format = decodeStringAt(this.#body, values.get('format')) ?? '';
    if (name === 'image') this.mediaBytes += bytes === undefined ? 0 : bytes.end - bytes.start;
    else if (name === 'document' && (source.values.has('text') || source.values.has('content'))) return;
    else if (name === 'document' && bytes !== undefined && format === 'pdf') this.#addDocument(bytes, true);
    else if (name !== 'document' || bytes === undefined || !TEXT_FORMATS.has(format)) this.hasExternalContent = true;
  }

  /** Adds a PDF. `isPdf`: the media type is known; otherwise the string must be a PDF data URL. */
  #addDocument(data: JsonSpan, isPdf: boolean): void {
    const text = decodeStringAt(this.#body, data, this.#body.length);
    const comma = isPdf ? -1 : (text?.indexOf(',') ?? -1);
    const facts =
      text === null || (!isPdf && !PDF_TYPE.test(text))
        ? null
        : measurePdf(Buffer.from(text.slice(comma + 1), 'base64'), this.#inflateBudget);
    if (facts === null) {
      this.hasExternalContent = true;
      return;
    }
    this.pages += facts.pages;
    this.pageTextBytes += Math.max(facts.textBytes, facts.pages * PAGE_TOKENS);
    this.mediaBytes += data.end - data.start;
  }

  #addOpaque(text: JsonSpan | undefined): void {
    if (text !== undefined) this.opaqueBytes += text.end - text.start;
  }

  #decodeMember(object: JsonObjectNode, member: string): string | null {
    const span = object.values.get(member);
    return span?.isAltSpelling ? null : decodeStringAt(this.#body, span);
  }

  /** The first characters of a string, decoded. */
  #decodePrefix({ start, end }: JsonSpan): string {
    const raw = this.#body.toString('latin1', start + 1, Math.min(end - 1, start + 48));
    return raw.replace(/\\u([0-9a-f]{4})/gi, (_all, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  }
}

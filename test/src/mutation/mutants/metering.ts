import type { Area } from '../mutant.js';

const FIELDS = 'dataplane/src/metering/reading/usage-counts.ts';
const INCLUDE = 'dataplane/src/metering/stream-usage/request-stream-usage.ts';
const FILTER = 'dataplane/src/metering/stream-usage/stream-usage-filter.ts';
const EVENTS = 'dataplane/src/metering/bodies/sse-meter.ts';
const ESTIMATE = 'dataplane/src/metering/reading/token-estimates.ts';
const SCANNER = 'dataplane/src/scan/json-scanner.ts';
const SSE = 'dataplane/src/scan/sse-parser.ts';

export const METERING: Area = {
  name: 'metering',
  tests: ['dataplane/src/metering', 'dataplane/src/scan', 'dataplane/src/pricing'],
  built: false,
  mutants: [
    {
      file: FIELDS,
      find: 'counts.inUncached = tokensIn - counts.cacheRead - counts.cacheWrite;',
      put: 'counts.inUncached = tokensIn - counts.cacheRead;',
      bug: 'cache writes are charged twice',
    },
    {
      file: FIELDS,
      find: "return typeof value === 'number' && value >= 0 && value <= TOKENS_MAX ? Math.floor(value) : null;",
      put: "return typeof value === 'number' && value <= TOKENS_MAX ? Math.floor(value) : null;",
      bug: 'negative tokens of a provider reduce the spend',
    },
    {
      file: FIELDS,
      find: "return typeof value === 'number' && value >= 0 && value <= TOKENS_MAX ? Math.floor(value) : null;",
      put: "return typeof value === 'number' && value >= 0 ? Math.floor(value) : null;",
      bug: 'absurd figures are recorded',
    },
    {
      file: FIELDS,
      find: `return Math.min(parseCount(value) ?? 0, whole);`,
      put: `return parseCount(value) ?? 0;`,
      bug: 'a part larger than its whole makes the rest negative',
    },
    {
      file: FIELDS,
      find: 'counts.cacheWrite1h = Math.min(counts.cacheWrite1h, counts.cacheWrite);',
      put: '',
      bug: 'more long-lived cache writes than cache writes are charged',
    },
    {
      file: FIELDS,
      find: 'counts.inUncached = tokensIn ?? counts.inUncached;',
      put: 'counts.inUncached += tokensIn ?? 0;',
      bug: 'input that message_delta repeats counts twice',
    },
    {
      file: FIELDS,
      find: 'counts.out = out ?? counts.out;',
      put: 'counts.out += out ?? 0;',
      bug: 'cumulative output of message_delta is added up',
    },
    {
      file: INCLUDE,
      find: "(providerSlug: string): boolean => providerSlug === 'openai';",
      put: '(_providerSlug: string): boolean => true;',
      bug: 'bodies of other providers are edited',
      tests: ['dataplane/src/call/provider-metering.test.ts'],
    },
    {
      file: INCLUDE,
      find: 'if (count > 1) return null;',
      put: '',
      bug: 'a body with stream_options twice is edited',
    },
    {
      file: INCLUDE,
      find: `if (includeUsage !== 'false' && includeUsage !== 'null') return null;`,
      put: '',
      bug: 'a caller that requested usage does not get it',
    },
    {
      file: INCLUDE,
      find: `isEmptyObject(body, start) ? INCLUDE_USAGE : \`\${INCLUDE_USAGE},\``,
      put: `\`\${INCLUDE_USAGE},\``,
      bug: 'an empty stream_options becomes broken JSON',
    },
    {
      file: INCLUDE,
      find: 'const isSure = members.isWhole && body[members.rootStart]',
      put: 'const isSure = body[members.rootStart]',
      bug: 'a truncated body is edited',
    },
    {
      file: FILTER,
      find: 'if (!this.#usageIsNull && this.#choicesEmpty) {',
      put: 'if (!this.#usageIsNull) {',
      bug: 'a last chunk with content is removed from the stream',
    },
    {
      file: FILTER,
      find: `if (!this.#scanner.isDone || this.#usages !== 1) return false;`,
      put: `if (!this.#scanner.isDone) return false;`,
      bug: 'a chunk with usage twice is cut in the wrong place',
    },
    {
      file: FILTER,
      find: `this.#cutTo = bytes[after] === 0x2c ? skipBlanksForward(bytes, after + 1) : valueEnd;`,
      put: 'this.#cutTo = valueEnd;',
      bug: 'a comma stays where the first member was removed',
    },
    {
      file: FILTER,
      find: `if (!this.#findCut(bytes, 0, length)) return bytes;`,
      put: 'return bytes;',
      bug: 'a usage chunk without its blank line at the end reaches the caller',
    },
    {
      file: EVENTS,
      find: `    this.#parser.end();
`,
      put: '',
      bug: 'the last event of a stream without a closing blank line is not read',
    },
    {
      file: EVENTS,
      find: `this.#usageAt = findUsageKey(chunk, this.#usageAt + USAGE_KEY.length);`,
      put: 'this.#usageAt = chunk.length;',
      bug: 'only the first mention of usage in a chunk is checked',
    },
    {
      file: ESTIMATE,
      find: `estimateTextTokens(Math.max(0, bytes - blobBytes)) + Math.ceil(`,
      put: `estimateTextTokens(bytes) + Math.ceil(`,
      bug: 'images in a request are charged as text',
    },
    {
      file: ESTIMATE,
      find: 'const parts = decoded.toLowerCase().split',
      put: 'const parts = decoded.split',
      bug: 'a path in capitals is not metered',
    },
    {
      file: SCANNER,
      find: 'if (this.#keyText.length + (end - at) > KEY_BYTES_MAX) this.#keyTooLong = true;\n    else this',
      put: 'this',
      bug: 'an endless key takes memory without bound',
      equivalent: 'the enclosing value bounds it in every caller except for a hostile response; memory is not asserted',
    },
    {
      file: SCANNER,
      find: '      return String(JSON.parse(`"${this.#keyText}"`));',
      put: '      return this.#keyText;',
      bug: 'a key with escapes is another key',
    },
    {
      file: SCANNER,
      find: 'if (at > to) this.#escaped = true;',
      put: '',
      bug: 'an escape at the end of a chunk is lost',
    },
    {
      file: SCANNER,
      find: `const isEscaped = (countBackslashesBefore(bytes, at, stop) & 1) === 1;`,
      put: `const isEscaped = countBackslashesBefore(bytes, at, stop) > 0;`,
      bug: 'a quote after two backslashes does not end the string',
    },
    {
      file: SCANNER,
      find: 'default: // DONE: a second value\n        this.#state = FAILED;',
      put: 'default: // DONE: a second value\n        this.#state = DONE;',
      bug: 'two documents in one body count as one',
    },
    {
      file: SSE,
      find: 'if (at === chunk.length) this.#skipLf = true;\n        else if (chunk[at] === LF) at++;',
      put: 'if (at < chunk.length && chunk[at] === LF) at++;',
      bug: 'a CRLF that is cut in the middle ends two lines',
    },
    {
      file: SSE,
      find: 'const hasCr = chunk.indexOf(CR) >= 0;',
      put: 'const hasCr = false;',
      bug: 'streams with CR line ends are not read',
    },
    {
      file: 'dataplane/src/metering/providers/openai-usage-reader.ts',
      find: `if (body.isComplete || this.#deltas === 0) return createUsageReading`,
      put: `if (this.#deltas === 0) return createUsageReading`,
      bug: 'deltas are counted in addition to the reported usage',
    },
    {
      file: 'dataplane/src/metering/providers/openai-usage-reader.ts',
      find: '      this.#counts.out += this.#deltas;\n',
      put: '',
      bug: 'output after the last usage of an aborted stream is free',
    },
    {
      file: 'dataplane/src/metering/providers/openai-usage-reader.ts',
      find: `if (options.method !== 'POST') return createUsageReading(createEmptyCounts(), 'none', model, details);`,
      put: '',
      bug: 'a response that is fetched again is charged again',
    },
    {
      file: 'dataplane/src/metering/providers/openai-usage-reader.ts',
      find: '    this.#deltas = 0;\n',
      put: '',
      bug: 'content before the usage counts in addition to it',
    },
    {
      file: 'dataplane/src/metering/providers/openai-usage-reader.ts',
      find: 'if (isEvents && this.#streamError !== null && this.#deltas === 0) return null;',
      put: '',
      bug: 'a stream that failed before any output has a cost',
    },
    {
      file: 'dataplane/src/metering/providers/openai-usage-reader.ts',
      find: `lineId: this.#id ?? this.#customId ?? \`#\${this.#lineCount}\`,`,
      put: `lineId: \`#\${this.#lineCount}\`,`,
      bug: 'a line of a batch counts again at another position',
    },
  ],
};

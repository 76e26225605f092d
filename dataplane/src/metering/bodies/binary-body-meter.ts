import {
  type BodyMeter,
  type MeterOptions,
  TOKENS_KNOWN_AT_END,
  type UsageReading,
} from '../reading/response-usage-meter-interface.js';
import { estimateSpeechTokens, isSpeechPath, normalizePath } from '../reading/token-estimates.js';
import type { UsageReader } from '../reading/usage-reader-interface.js';

/** Meter of a body without usage data (audio, images, files): only its size counts. */
export class BinaryBodyMeter implements BodyMeter {
  readonly #options: MeterOptions;
  readonly #reader: UsageReader;
  readonly #isSpeech: boolean;
  #bytes = 0;
  #encodedBytes = 0;

  constructor(options: MeterOptions, reader: UsageReader) {
    this.#options = options;
    this.#reader = reader;
    this.#isSpeech = isSpeechPath(normalizePath(options.path));
  }

  observe(chunk: Buffer): void {
    this.#bytes += chunk.length;
  }

  get tokensOutSeen(): number {
    return this.#isSpeech ? estimateSpeechTokens(this.#bytes, this.#options) : TOKENS_KNOWN_AT_END;
  }

  skipUndecodable(encodedBytes: number): void {
    this.#encodedBytes = encodedBytes;
  }

  finish(isComplete: boolean): UsageReading {
    return this.#reader.createReading({
      kind: 'opaque',
      isComplete,
      bytes: this.#bytes,
      encodedBytes: this.#encodedBytes,
      options: this.#options,
    });
  }
}

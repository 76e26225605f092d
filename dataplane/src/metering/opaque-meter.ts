import { isSpeech, plainPath, spokenTokens } from './estimate.js';
import { type BodyMeter, KNOWN_AT_END, type MeterOptions, type UsageReading } from './meter.js';
import type { UsageReader } from './usage-reader.js';

/** A body that can hold no usage (audio, images, files): only its size counts. */
export class OpaqueMeter implements BodyMeter {
  readonly #options: MeterOptions;
  readonly #reader: UsageReader;
  readonly #isSpeech: boolean;
  #bytes = 0;
  #encodedBytes = 0;

  constructor(options: MeterOptions, reader: UsageReader) {
    this.#options = options;
    this.#reader = reader;
    this.#isSpeech = isSpeech(plainPath(options.path));
  }

  observe(chunk: Buffer): void {
    this.#bytes += chunk.length;
  }

  get tokensOutSeen(): number {
    return this.#isSpeech ? spokenTokens(this.#bytes, this.#options) : KNOWN_AT_END;
  }

  unreadable(encodedBytes: number): void {
    this.#encodedBytes = encodedBytes;
  }

  finish(complete: boolean): UsageReading {
    return this.#reader.reading({
      kind: 'opaque',
      complete,
      bytes: this.#bytes,
      encodedBytes: this.#encodedBytes,
      options: this.#options,
    });
  }
}

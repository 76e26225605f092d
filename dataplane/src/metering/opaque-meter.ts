import type { BodyMeter, MeterOptions, UsageReading } from './meter.js';
import type { UsageReader } from './usage-reader.js';

/** A body that can hold no usage (audio, images, files): only its size counts. */
export class OpaqueMeter implements BodyMeter {
  readonly #options: MeterOptions;
  readonly #reader: UsageReader;
  #bytes = 0;
  #encodedBytes = 0;

  constructor(options: MeterOptions, reader: UsageReader) {
    this.#options = options;
    this.#reader = reader;
  }

  observe(chunk: Buffer): void {
    this.#bytes += chunk.length;
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

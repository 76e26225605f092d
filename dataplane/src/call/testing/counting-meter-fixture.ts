import type { UsageMeter, UsageReading } from '@acg/dataplane/metering/reading/response-usage-meter-interface';

const READING: UsageReading = {
  tokensInUncached: 0,
  tokensCacheRead: 0,
  tokensCacheWrite: 0,
  tokensOut: 0,
  tokensReasoning: 0,
  model: null,
  source: 'none',
  streamError: null,
  isMalformed: false,
  extras: {} as UsageReading['extras'],
};

/** Counts the bytes that it observes as output tokens. */
export class CountingMeter implements UsageMeter {
  bytes = 0;
  observe(chunk: Buffer): void {
    this.bytes += chunk.length;
  }
  get tokensOutSeen(): number {
    return -1;
  }
  finish(): UsageReading {
    return { ...READING, tokensOut: this.bytes };
  }
}

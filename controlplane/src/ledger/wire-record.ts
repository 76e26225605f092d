/** A `UsageRecord` of gateway.proto as it came over the wire, read by hand; fields that are absent have their default. */
import type { WireFigures, WireKind } from './usage-entry.js';
import { DELIMITED, MalformedMessage, type StringMemo, VARINT, type WireReader } from './wire-reader.js';

export class WireRecord implements WireFigures, WireKind {
  id = '';
  keyId = '';
  agentId = '';
  orgId = '';
  providerSlug = '';
  accountId = '';
  startedAtMs = 0;
  method = '';
  path = '';
  upstreamStatus = 0;
  error = '';
  model = '';
  tokensInUncached = 0;
  tokensCacheRead = 0;
  tokensCacheWrite = 0;
  tokensOut = 0;
  tokensReasoning = 0;
  costNanos = 0;
  usageSource = '';
  priceSource = '';
  durationMs = 0;
  /** -1: absent, which is not 0. */
  ttfbMs = -1;
  bytesIn = 0;
  bytesOut = 0;
  streamed = false;
  circuitKey = '';
  circuitEpoch = 0;
  circuitOutcome = 0;
  probeLease = '';
  responseStatus = 0;
  websocket = false;

  /** Reads up to `end`, where the message ends. Fields of later versions are skipped. */
  read(reader: WireReader, end: number, strings: StringMemo): void {
    while (reader.at < end) {
      const tag = reader.varint();
      if ((tag & 7) === DELIMITED) {
        const stop = reader.delimited();
        if (tag >>> 3 === 1)
          this.id = reader.bytes.toString('utf8', reader.at, stop); // no two records have the same
        else this.#text(tag >>> 3, strings.get(reader.bytes, reader.at, stop));
        reader.at = stop;
      } else if ((tag & 7) === VARINT) this.#number(tag >>> 3, reader.varint());
      else reader.skip(tag & 7);
    }
    if (reader.at !== end) throw new MalformedMessage();
  }

  /** Whether the two differ in nothing that makes a `UsageKind`. */
  sameKind(other: WireRecord): boolean {
    return (
      this.keyId === other.keyId &&
      this.agentId === other.agentId &&
      this.orgId === other.orgId &&
      this.providerSlug === other.providerSlug &&
      this.accountId === other.accountId &&
      this.method === other.method &&
      this.upstreamStatus === other.upstreamStatus &&
      this.responseStatus === other.responseStatus &&
      this.error === other.error &&
      this.model === other.model &&
      this.usageSource === other.usageSource &&
      this.priceSource === other.priceSource &&
      this.streamed === other.streamed &&
      this.websocket === other.websocket &&
      this.circuitKey === other.circuitKey &&
      this.circuitEpoch === other.circuitEpoch &&
      this.circuitOutcome === other.circuitOutcome
    );
  }

  #text(field: number, value: string): void {
    switch (field) {
      case 2:
        this.keyId = value;
        return;
      case 3:
        this.agentId = value;
        return;
      case 4:
        this.orgId = value;
        return;
      case 5:
        this.providerSlug = value;
        return;
      case 6:
        this.accountId = value;
        return;
      case 8:
        this.method = value;
        return;
      case 9:
        this.path = value;
        return;
      case 11:
        this.error = value;
        return;
      case 12:
        this.model = value;
        return;
      case 19:
        this.usageSource = value;
        return;
      case 20:
        this.priceSource = value;
        return;
      case 26:
        this.circuitKey = value;
        return;
      case 29:
        this.probeLease = value;
    }
  }

  #number(field: number, value: number): void {
    switch (field) {
      case 7:
        this.startedAtMs = value;
        return;
      case 10:
        this.upstreamStatus = value;
        return;
      case 13:
        this.tokensInUncached = value;
        return;
      case 14:
        this.tokensCacheRead = value;
        return;
      case 15:
        this.tokensCacheWrite = value;
        return;
      case 16:
        this.tokensOut = value;
        return;
      case 17:
        this.tokensReasoning = value;
        return;
      case 18:
        this.costNanos = value;
        return;
      case 21:
        this.durationMs = value;
        return;
      case 22:
        this.ttfbMs = value;
        return;
      case 23:
        this.bytesIn = value;
        return;
      case 24:
        this.bytesOut = value;
        return;
      case 25:
        this.streamed = value !== 0;
        return;
      case 27:
        this.circuitEpoch = value;
        return;
      case 28:
        this.circuitOutcome = value;
        return;
      case 30:
        this.responseStatus = value;
        return;
      case 31:
        this.websocket = value !== 0;
    }
  }
}

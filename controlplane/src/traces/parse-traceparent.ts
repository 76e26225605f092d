/** Parses the caller's `traceparent` header (W3C Trace Context). Pure. */
interface TraceContext {
  /** 32 lower-case hex digits. */
  readonly traceId: string;
  /** 16 lower-case hex digits. */
  readonly parentSpanId: string;
  /** Whether the caller samples this trace. */
  readonly sampled: boolean;
}

/** version-traceid-parentid-flags; later versions may append fields. */
const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const INVALID_VERSION = 'ff';
const SAMPLED = 0x01;
const ZEROS = /^0+$/;

/** Returns null when the header is missing or invalid; the call then starts a new trace. */
export function parseTraceparent(header: string): TraceContext | null {
  const match = TRACEPARENT.exec(header);
  if (match === null) return null;
  const [, version, traceId, parentSpanId, flags, more] = match as unknown as [
    string,
    string,
    string,
    string,
    string,
    string?,
  ];
  if (version === INVALID_VERSION || (version === '00' && more !== undefined)) return null;
  if (ZEROS.test(traceId) || ZEROS.test(parentSpanId)) return null;
  return { traceId, parentSpanId, sampled: (Number.parseInt(flags, 16) & SAMPLED) !== 0 };
}

/** The caller's place in a trace, as its `traceparent` header says (W3C Trace Context). Pure. */
interface TraceContext {
  /** 32 lower-case hex digits. */
  readonly traceId: string;
  /** 16 lower-case hex digits. */
  readonly parentSpanId: string;
  /** The caller records this trace. */
  readonly sampled: boolean;
}

/** version-traceid-parentid-flags; a later version may add parts behind them. */
const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const INVALID_VERSION = 'ff';
const SAMPLED = 0x01;
const ZEROS = /^0+$/;

/** Null when it is missing or breaks the rules: such a call begins a trace of its own. */
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

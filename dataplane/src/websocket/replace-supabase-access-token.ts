/**
 * Replaces the gateway token in messages of supabase clients. supabase-js repeats its key in messages of the Phoenix
 * protocol: when it joins a channel and when it renews its access. Only there does the gateway token become the
 * account's key. Other messages with the token (broadcasts, presence, custom events) reach other people and pass
 * unchanged.
 *
 *   { "topic": …, "event": "phx_join" | "access_token", "payload": { "access_token": "<token>", … }, "ref": … }
 *   [ join_ref, ref, topic, event, payload ]
 */
const ACCESS_TOKEN_EVENTS: ReadonlySet<unknown> = new Set(['phx_join', 'access_token']);
const ARRAY_FRAME_PARTS = 5;
/** Frames of these events are small; longer messages are not parsed. */
const FRAME_BYTES_MAX = 256 * 1024;

interface Payload {
  access_token?: unknown;
}

/**
 * Returns the text message to send: `message` itself, or the same frame with `secret` as its access token. The frame is
 * serialized again from the parsed value, so that no name occurs twice and the next parser cannot read it differently.
 */
export function replaceAccessToken(message: Buffer, gatewayToken: Buffer, secret: string): Buffer {
  const at = message.indexOf(gatewayToken);
  if (at === -1 || message.length > FRAME_BYTES_MAX) return message;
  if (message.indexOf(gatewayToken, at + 1) !== -1) return message;
  let frame: unknown;
  try {
    frame = JSON.parse(message.toString());
  } catch {
    return message;
  }
  const payload = findAccessTokenPayload(frame);
  if (payload === null || payload.access_token !== gatewayToken.toString()) return message;
  payload.access_token = secret;
  try {
    return Buffer.from(JSON.stringify(frame));
  } catch {
    return message; // Nested more deeply than can be serialized, though it could be parsed.
  }
}

/** Returns the payload of a frame that carries an access token; null for every other frame. */
function findAccessTokenPayload(frame: unknown): Payload | null {
  let event: unknown;
  let payload: unknown;
  if (Array.isArray(frame)) {
    if (frame.length !== ARRAY_FRAME_PARTS) return null;
    [, , , event, payload] = frame;
  } else if (isObject(frame)) {
    ({ event, payload } = frame as { event?: unknown; payload?: unknown });
  }
  return ACCESS_TOKEN_EVENTS.has(event) && isObject(payload) && Object.hasOwn(payload, 'access_token') ? payload : null;
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

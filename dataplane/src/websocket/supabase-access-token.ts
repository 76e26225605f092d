/**
 * supabase-js repeats its key inside messages of the Phoenix protocol: when it joins a channel and when it renews its
 * access. There, and nowhere else, the gateway token becomes the account's key. Whatever else holds it (broadcasts,
 * presence, custom events) reaches other people and passes as it is.
 *
 *   { "topic": …, "event": "phx_join" | "access_token", "payload": { "access_token": "<token>", … }, "ref": … }
 *   [ join_ref, ref, topic, event, payload ]
 */
const ACCESS_TOKEN_EVENTS: ReadonlySet<unknown> = new Set(['phx_join', 'access_token']);
const ARRAY_FRAME_PARTS = 5;
/** Frames of these events are small; nothing larger is parsed. */
const FRAME_BYTES_MAX = 256 * 1024;

interface Payload {
  access_token?: unknown;
}

/**
 * The text message to send: `message` itself, or the same frame with `secret` as its access token. The frame is written
 * anew from what was understood, so that no name stands in it twice and the next parser cannot understand it otherwise.
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
    return message; // nested more deeply than can be written, though it could be read
  }
}

/** The payload of a frame that carries an access token; null for every other one. */
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

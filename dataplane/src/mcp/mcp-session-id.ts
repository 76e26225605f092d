/**
 * Binds the session ids of MCP servers to one agent and account: an agent gets `id.tag`, the server its own `id`. All
 * data planes share the key, which comes with the agent's context. An id with a wrong tag never reaches the server.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';

const TAG_BYTES = 16;
const TAG_CHARS = 22;
/** Visible ASCII, as the specification requires. */
const SESSION_ID = /^[\x21-\x7e]{1,1024}$/;

/** Null: the server's id has characters that no session id may have. */
export function signSessionId(key: string, accountId: string, id: string): string | null {
  return SESSION_ID.test(id) ? `${id}.${computeTag(key, accountId, id).toString('base64url')}` : null;
}

/** Returns the server's own id; null: another agent's, or none of this gateway. */
export function openSessionId(key: string, accountId: string, signed: string): string | null {
  const dot = signed.length - TAG_CHARS - 1;
  if (dot < 1 || signed[dot] !== '.') return null;
  const id = signed.slice(0, dot);
  const tag = Buffer.from(signed.slice(dot + 1), 'base64url');
  return tag.length === TAG_BYTES && timingSafeEqual(tag, computeTag(key, accountId, id)) ? id : null;
}

const computeTag = (key: string, accountId: string, id: string): Buffer =>
  createHmac('sha256', key).update(`${accountId} ${id}`).digest().subarray(0, TAG_BYTES);

/** Checks the members of a token answer (RFC 6749 §5.1). Pure. Throws {@link MintFailure}. */
import type { MintMethod } from '../providers/catalogue/mint-method-schema.js';
import { MintFailure } from './mint-failure.js';

export interface MintedToken {
  /** Values of the minted fields, by name. */
  readonly fields: Readonly<Record<string, string>>;
  /** Seconds from the request on; null: never expires. */
  readonly lifetimeS: number | null;
  /** Granted scopes; null: not stated. */
  readonly scope: string | null;
  /** Absent: the answer has none. */
  readonly refreshToken?: string;
}

/** A longer value does not fit into a header of every provider. */
const TOKEN_CHARS_MAX = 8_192;
/** A shorter value could occur in a response by chance, where it is masked. */
const TOKEN_CHARS_MIN = 8;
const TOKEN = /^[\x21-\x7e]+$/;
const LIFETIME_S_MIN = 60;
const LIFETIME_S_MAX = 86_400;
const SCOPE_CHARS_MAX = 2_000;

type TokenRules = Pick<MintMethod['token'], 'tokenType' | 'expires'>;

/** `requestedScope`: null for none. `isRepeatable`: the gateway can exchange again without a person. */
export function readTokenAnswer(
  answer: Readonly<Record<string, unknown>>,
  rules: TokenRules,
  requestedScope: string | null,
  isRepeatable: boolean,
): MintedToken {
  const accessToken = readToken(answer.access_token);
  const type = answer.token_type;
  const expected = (rules.tokenType ?? 'Bearer').toLowerCase();
  if (typeof type !== 'string' || type.toLowerCase() !== expected)
    throw new MintFailure('token_type', typeof type === 'string' && /^[\w-]{1,20}$/.test(type) ? type : null);
  const scope = readScope(answer.scope);
  if (requestedScope !== null && scope !== null) {
    const granted = new Set(scope.split(/[\s,]+/));
    if (!requestedScope.split(/[\s,]+/).every((one) => granted.has(one))) throw new MintFailure('missing_scope');
  }
  return { fields: { accessToken }, lifetimeS: readLifetimeS(answer.expires_in, rules.expires, isRepeatable), scope };
}

function readToken(value: unknown): string {
  const isUsable =
    typeof value === 'string' &&
    value.length >= TOKEN_CHARS_MIN &&
    value.length <= TOKEN_CHARS_MAX &&
    TOKEN.test(value);
  if (!isUsable) throw new MintFailure(value === undefined ? 'bad_answer' : 'bad_token');
  return value;
}

/** A token that the gateway can renew counts as one of 24 hours at most. Some servers send the number as text. */
function readLifetimeS(value: unknown, absent: TokenRules['expires'], isRepeatable: boolean): number | null {
  if (value === undefined || value === null) {
    if (absent === undefined) throw new MintFailure('bad_lifetime', 'no expires_in');
    return absent === 'never' ? null : absent;
  }
  const seconds = typeof value === 'string' && /^\d{1,12}$/.test(value) ? Number(value) : value;
  if (typeof seconds !== 'number' || !Number.isFinite(seconds) || seconds < LIFETIME_S_MIN)
    throw new MintFailure('bad_lifetime', typeof seconds === 'number' ? `expires_in ${Math.trunc(seconds)}` : null);
  return isRepeatable ? Math.min(seconds, LIFETIME_S_MAX) : Math.min(seconds, 10 * 365 * LIFETIME_S_MAX);
}

function readScope(value: unknown): string | null {
  const isText = typeof value === 'string' && value !== '' && value.length <= SCOPE_CHARS_MAX;
  return isText && /^[\x20-\x7e]+$/.test(value) ? value : null;
}

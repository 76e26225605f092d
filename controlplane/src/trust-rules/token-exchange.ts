/**
 * Token exchange (RFC 8693): a workload sends its own token and the id of a trust rule, and gets a gateway key. Each
 * exchange is in the audit trail. Rejections name what is wrong with the token, and nothing that the rule contains.
 */
import { createHash } from 'node:crypto';
import { UUID_PATTERN_ANY_CASE } from '@acg/base/uuid-patterns';
import { createGatewayToken, hashGatewayToken, prefixOfGatewayToken } from '../api-keys/create-gateway-token.js';
import { recordAudit } from '../audit/audit-trail.js';
import type { Sql } from '../db/postgres-client.js';
import type { JwkSet } from '../sso/jwk-set.js';
import type { Throttle } from '../throttling/throttle.js';
import { publishInvalidations } from '../watch/publish-invalidations.js';
import type { IssuerKeys } from './issuer-keys.js';
import type { TokenInput, TokenReply } from './schema.js';
import * as store from './store.js';
import {
  CLOCK_TOLERANCE_S,
  TokenRejected,
  UnknownKey,
  verifyWorkloadToken,
  type WorkloadIdentity,
} from './verify-workload-token.js';

const GRANT_TYPE = 'urn:ietf:params:oauth:grant-type:token-exchange';
const ACCESS_TOKEN_TYPE = 'urn:ietf:params:oauth:token-type:access_token';
const SUBJECT_TOKEN_TYPES: readonly unknown[] = [
  'urn:ietf:params:oauth:token-type:jwt',
  'urn:ietf:params:oauth:token-type:id_token',
];
/** Counted after verification, so that strangers cannot use up the limit of a rule. */
const EXCHANGES_PER_RULE_MAX = 600;
const EXCHANGE_WINDOW_S = 60;
const AUDIT_TEXT_CHARS_MAX = 255;
/** Postgres rejects half of a character in JSON. */
const shorten = (text: string): string => text.slice(0, AUDIT_TEXT_CHARS_MAX).replace(/[\ud800-\udbff]$/, '');

type TokenErrorCode =
  | 'invalid_request'
  | 'unsupported_grant_type'
  | 'invalid_grant'
  | 'slow_down'
  | 'temporarily_unavailable';

/** An error response of RFC 6749 §5.2. */
export class TokenError extends Error {
  constructor(
    readonly code: TokenErrorCode,
    description: string,
  ) {
    super(description);
  }
}

const REPLAYED = 'the token was exchanged before, and the trust rule accepts each token once (jti)';
const CHANGED = 'the trust rule was changed or deleted meanwhile. Retry the exchange.';
const NOT_RENEWABLE = 'renew_token is not a valid key of this trust rule: exchange without it';
const NO_RULE = 'no such trust rule: send the id of a trust rule as trust_rule';

export class TokenExchange {
  constructor(
    readonly sql: Sql,
    readonly keys: IssuerKeys,
    readonly throttle: Throttle,
  ) {}

  /** Throws {@link TokenError}, and `TooManyAttempts` at the limit of the rule. */
  async exchange(input: TokenInput, ip: string): Promise<TokenReply> {
    const { ruleId, token, renewed } = parseInput(input);
    const rule = await store.loadRuleWithKeys(this.sql, ruleId);
    if (rule === null) throw new TokenError('invalid_grant', NO_RULE);
    try {
      const identity = await this.#verify(rule, token);
      await this.throttle.consume(
        `trust-rule:${rule.id}`,
        EXCHANGES_PER_RULE_MAX,
        EXCHANGE_WINDOW_S,
        'exchanges of this trust rule',
      );
      return await this.#issue(rule, identity, renewed, ip);
    } catch (error) {
      if (!(error instanceof TokenRejected)) throw error;
      await store.noteRejection(this.sql, rule.id, error.message);
      throw new TokenError('invalid_grant', error.message);
    }
  }

  async #verify(rule: store.RuleWithKeys, token: string): Promise<WorkloadIdentity> {
    const nowMs = Date.now();
    const keys = await this.keys.load(rule, nowMs);
    if (keys === null)
      throw new TokenError(
        'temporarily_unavailable',
        'the keys of the issuer could not be read for a day: the trust rule states why (keysFailure)',
      );
    const verify = (set: JwkSet) => verifyWorkloadToken(token, set, rule, nowMs);
    try {
      return await verify(keys);
    } catch (error) {
      if (!(error instanceof UnknownKey)) throw error;
      const newKeys = await this.keys.refresh(rule);
      if (newKeys === null) throw error;
      return verify(newKeys);
    }
  }

  /** `renewed`: extends this key instead of creating another one, because a running program cannot get another. */
  async #issue(
    rule: store.RuleWithKeys,
    identity: WorkloadIdentity,
    renewed: string | null,
    ip: string,
  ): Promise<TokenReply> {
    const key = renewed ?? createGatewayToken().secretKey.reveal();
    const keyPrefix = prefixOfGatewayToken(key);
    await this.sql.begin(async (tx) => {
      const write = renewed === null ? store.insertRuleKey : store.renewRuleKey;
      if (!(await write(tx, rule, hashGatewayToken(key))))
        throw new TokenRejected(renewed === null ? CHANGED : NOT_RENEWABLE);
      const { subject, tokenId, expiresAtS } = identity;
      if (rule.jtiOnce) {
        const keptUntil = new Date((expiresAtS + 2 * CLOCK_TOLERANCE_S) * 1000);
        if (!(await store.markTokenUsed(tx, rule.id, hashOf(tokenId!), keptUntil))) throw new TokenRejected(REPLAYED);
      }
      const actor = {
        userId: null,
        email: shorten(`workload ${subject}`),
        orgId: rule.orgId,
        ip,
      };
      await recordAudit(
        tx,
        actor,
        'trust_rule.exchange',
        { type: 'trust_rule', id: rule.id },
        {
          subject: [null, shorten(subject)],
          tokenId: [null, tokenId === null ? null : shorten(tokenId)],
          keyPrefix: [renewed === null ? null : keyPrefix, keyPrefix],
        },
      );
      // Here, because a failure after the commit would lose the key, and with jtiOnce the retry, too.
      await store.noteUse(tx, rule.id);
      // Data planes know the previous expiry.
      if (renewed !== null) await publishInvalidations(tx, [{ kind: 'key', id: rule.id }]);
    });
    return {
      access_token: key,
      issued_token_type: ACCESS_TOKEN_TYPE,
      token_type: 'Bearer',
      expires_in: rule.keyLifetimeSeconds,
    };
  }
}

interface ParsedInput {
  readonly ruleId: string;
  readonly token: string;
  readonly renewed: string | null;
}

function parseInput(input: TokenInput): ParsedInput {
  if (input.grant_type !== GRANT_TYPE) {
    const code = input.grant_type === undefined ? 'invalid_request' : 'unsupported_grant_type';
    throw new TokenError(code, `grant_type must be ${GRANT_TYPE}`);
  }
  const { trust_rule: ruleId, subject_token: token, subject_token_type: type, requested_token_type: wanted } = input;
  if (token === undefined || token === '') throw new TokenError('invalid_request', 'subject_token is required');
  if (!SUBJECT_TOKEN_TYPES.includes(type))
    throw new TokenError('invalid_request', `subject_token_type must be ${SUBJECT_TOKEN_TYPES.join(' or ')}`);
  if (wanted !== undefined && wanted !== ACCESS_TOKEN_TYPE)
    throw new TokenError('invalid_request', `requested_token_type must be ${ACCESS_TOKEN_TYPE}, or left out`);
  if (ruleId === undefined || !UUID_PATTERN_ANY_CASE.test(ruleId)) throw new TokenError('invalid_request', NO_RULE);
  return { ruleId: ruleId.toLowerCase(), token, renewed: input.renew_token ?? null };
}

const hashOf = (text: string): Buffer => createHash('sha256').update(text).digest();

/** From when to when a session's token is good, as it says itself; null where it does not, as a management token. */
interface TokenLifetime {
  readonly issuedAtMs: number;
  readonly expiresAtMs: number;
}

export function decodeTokenLifetime(token: string): TokenLifetime | null {
  try {
    const { iat, exp } = JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()) as Record<
      string,
      unknown
    >;
    if (typeof iat !== 'number' || typeof exp !== 'number') return null;
    return { issuedAtMs: iat * 1_000, expiresAtMs: exp * 1_000 };
  } catch {
    return null;
  }
}

/**
 * Reads the validity of a session token from the token itself; null for tokens without it, such as management tokens.
 */
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

/** From when to when a session's token is good, as it says itself; null where it does not, as a management token. */
interface TokenLife {
  readonly fromMs: number;
  readonly untilMs: number;
}

export function tokenLife(token: string): TokenLife | null {
  try {
    const { iat, exp } = JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()) as Record<
      string,
      unknown
    >;
    if (typeof iat !== 'number' || typeof exp !== 'number') return null;
    return { fromMs: iat * 1_000, untilMs: exp * 1_000 };
  } catch {
    return null;
  }
}

/** Waits for a condition that other processes bring about, instead of sleeping. */
const POLL_MS = 15;
const PATIENCE_MS = 300_000;

/** The first value that is neither null, undefined nor false; rejects with `what` when it does not come. */
export async function until<T>(
  what: string,
  look: () => T | Promise<T>,
): Promise<Exclude<T, null | undefined | false>> {
  const endsAt = Date.now() + PATIENCE_MS;
  for (;;) {
    const value = await look();
    if (value !== null && value !== undefined && value !== false) return value as Exclude<T, null | undefined | false>;
    if (Date.now() > endsAt) throw new Error(`waited in vain until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

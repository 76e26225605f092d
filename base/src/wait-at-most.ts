/**
 * Waits for `promise`, at most `timeoutMs` (ms). Resolves to undefined after that time; rejects if `promise` rejects
 * before. A later rejection is ignored. No timer remains afterwards.
 */
export async function waitAtMost<T>(promise: Promise<T>, timeoutMs: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, timeoutMs, undefined);
  });
  try {
    return await Promise.race([promise, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

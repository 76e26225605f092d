/** Countdown in seconds after a 429: the time until the next attempt is accepted; 0 when it is over. */
import { ApiError } from '@acg/client/api-errors';
import { useEffect, useState } from 'react';

const TICK_MS = 1_000;

export function useRetryCountdownSeconds(error: unknown): number {
  const [seconds, setSeconds] = useState(0);
  useEffect(() => {
    if (error instanceof ApiError && error.status === 429) setSeconds(error.retryAfter ?? 0);
  }, [error]);
  useEffect(() => {
    if (seconds === 0) return;
    const timer = setTimeout(() => setSeconds(seconds - 1), TICK_MS);
    return () => clearTimeout(timer);
  }, [seconds]);
  return seconds;
}

/** A time relative to now; the exact time is in the tooltip and the `datetime` attribute. */
import { useEffect, useState } from 'react';
import { formatExactTime, formatRelativeTime, NO_VALUE } from '../../format/format.js';

const TICK_MS = 10_000;

export function RelativeTime({ at, never = NO_VALUE }: { readonly at: string | null; readonly never?: string }) {
  const [nowMs, setNowMs] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNowMs(Date.now()), TICK_MS);
    return () => clearInterval(timer);
  }, []);
  if (at === null) return <>{never}</>;
  return (
    <time dateTime={at} title={formatExactTime(at)} style={{ whiteSpace: 'nowrap' }}>
      {formatRelativeTime(at, nowMs)}
    </time>
  );
}

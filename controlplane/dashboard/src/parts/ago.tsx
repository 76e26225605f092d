/** A time as how long ago it is, the exact one on hover and for those who look at the page's source. */
import { useEffect, useState } from 'react';
import { exactTime, NONE, relative } from '../format/format.js';

const TICK_MS = 10_000;

export function Ago({ at, never = NONE }: { readonly at: string | null; readonly never?: string }) {
  const [nowMs, setNowMs] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNowMs(Date.now()), TICK_MS);
    return () => clearInterval(timer);
  }, []);
  if (at === null) return <>{never}</>;
  return (
    <time dateTime={at} title={exactTime(at)} style={{ whiteSpace: 'nowrap' }}>
      {relative(at, nowMs)}
    </time>
  );
}

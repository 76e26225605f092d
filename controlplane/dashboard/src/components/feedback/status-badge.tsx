/** A state as a word with a dot: grey for normal states, a colour for what deviates. The word says the same. */

type Tone = 'success' | 'warning' | 'error' | 'neutral';

/** Longer texts break in narrow columns. */
const NOWRAP_CHARS = 16;

interface StatusBadgeProps {
  readonly tone: Tone;
  readonly children: string;
}

export const StatusBadge = ({ tone, children }: StatusBadgeProps) => (
  <span className="acg-status" data-tone={tone}>
    <span
      className={`acg-status-text${children.length > NOWRAP_CHARS ? '' : ' acg-nowrap'}`}
      title={children.length > NOWRAP_CHARS ? children : undefined}
    >
      {children}
    </span>
  </span>
);

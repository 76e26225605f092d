/** A state as a word with a dot: grey for normal states, a colour for what deviates. The word says the same. */

type Tone = 'success' | 'warning' | 'error' | 'neutral';

interface StatusBadgeProps {
  readonly tone: Tone;
  readonly children: string;
}

export const StatusBadge = ({ tone, children }: StatusBadgeProps) => (
  <span className="acg-status" data-tone={tone}>
    <span>{children}</span>
  </span>
);

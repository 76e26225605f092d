/** A state as a word with a dot: grey for normal states, a colour for what deviates. The word says the same. */
import { Box, Group } from '@mantine/core';

type Tone = 'success' | 'warning' | 'error' | 'neutral';

const DOT_COLORS: Readonly<Record<Tone, string>> = {
  success: 'var(--mantine-color-gray-5)',
  warning: 'var(--acg-warning)',
  error: 'var(--acg-error)',
  neutral: 'var(--mantine-color-dimmed)',
};

/** Longer texts break in narrow columns. */
const NOWRAP_CHARS = 16;

interface StatusBadgeProps {
  readonly tone: Tone;
  readonly children: string;
}

export function StatusBadge({ tone, children }: StatusBadgeProps) {
  return (
    <Group component="span" gap={6} wrap="nowrap" display="inline-flex" style={{ verticalAlign: 'bottom' }}>
      <Box component="span" w={8} h={8} bg={DOT_COLORS[tone]} bdrs="50%" flex="none" aria-hidden />
      <span
        className={`acg-status-text${children.length > NOWRAP_CHARS ? '' : ' acg-nowrap'}`}
        {...(children.length > NOWRAP_CHARS ? { title: children } : {})}
      >
        {children}
      </span>
    </Group>
  );
}

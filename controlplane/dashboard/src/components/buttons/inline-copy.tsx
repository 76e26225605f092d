/** A short text, such as an id, that a click copies. */
import { CopyButton as Copy, UnstyledButton } from '@mantine/core';
import { Check, Copy as CopyIcon } from 'lucide-react';

interface InlineCopyProps {
  readonly value: string;
  /** For screen readers: `Copy {what}`. */
  readonly what: string;
  /** Shown instead of the value, e.g. its end. */
  readonly text?: string;
}

export const InlineCopy = ({ value, what, text = value }: InlineCopyProps) => (
  <Copy value={value}>
    {({ copied, copy }) => (
      <UnstyledButton
        className="acg-inline-copy"
        title={value}
        aria-label={copied ? `Copied ${what}` : `Copy ${what}: ${value}`}
        onClick={copy}
      >
        {text} {copied ? <Check size={12} aria-hidden /> : <CopyIcon size={12} aria-hidden />}
      </UnstyledButton>
    )}
  </Copy>
);

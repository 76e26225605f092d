/** Copies a text to the clipboard and confirms it. */
import { Button, CopyButton as Copy } from '@mantine/core';
import { Check, Copy as CopyIcon } from 'lucide-react';

interface CopyButtonProps {
  readonly value: string;
  readonly label?: string;
  readonly onCopied?: () => void;
}

export function CopyButton({ value, label = 'Copy', onCopied }: CopyButtonProps) {
  return (
    <Copy value={value}>
      {({ copied, copy }) => (
        <Button
          size="xs"
          variant="default"
          leftSection={copied ? <Check size={14} aria-hidden /> : <CopyIcon size={14} aria-hidden />}
          onClick={() => {
            copy();
            onCopied?.();
          }}
        >
          {copied ? 'Copied' : label}
        </Button>
      )}
    </Copy>
  );
}

/** A button of one row: it says what it does, and to those who hear it also with what. */
import { GuardedButton, type GuardedButtonProps } from './guarded-button.js';

interface RowButtonProps extends Pick<GuardedButtonProps, 'needs' | 'whyNot' | 'loading' | 'onClick'> {
  /** E.g. `Edit`. */
  readonly verb: string;
  /** The row's name. */
  readonly of: string;
  /** It takes something away. */
  readonly grave?: boolean;
}

export function RowButton({ verb, of, grave = false, ...button }: RowButtonProps) {
  const look = grave ? { variant: 'subtle', color: 'red' } : { variant: 'default' };
  return (
    <GuardedButton {...button} {...look} size="xs" aria-label={`${verb} ${of}`}>
      {verb}
    </GuardedButton>
  );
}

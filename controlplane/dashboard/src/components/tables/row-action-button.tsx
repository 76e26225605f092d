/** A button of one row: it says what it does, and to those who hear it also with what. */
import { RoleGuardedButton, type RoleGuardedButtonProps } from '../buttons/role-guarded-button.js';

interface RowActionButtonProps
  extends Pick<RoleGuardedButtonProps, 'requiredRole' | 'disabledReason' | 'loading' | 'onClick'> {
  /** E.g. `Edit`. */
  readonly verb: string;
  /** The row's name. */
  readonly rowName: string;
  /** It takes something away. */
  readonly isDestructive?: boolean;
}

export function RowActionButton({ verb, rowName: of, isDestructive: grave = false, ...button }: RowActionButtonProps) {
  const look = grave ? { variant: 'subtle', color: 'red' } : { variant: 'default' };
  return (
    <RoleGuardedButton {...button} {...look} size="xs" aria-label={`${verb} ${of}`}>
      {verb}
    </RoleGuardedButton>
  );
}

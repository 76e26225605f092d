/** An action button of a row; its accessible name includes the row's name. */
import { RoleGuardedButton, type RoleGuardedButtonProps } from '../buttons/role-guarded-button.js';

interface RowActionButtonProps
  extends Pick<RoleGuardedButtonProps, 'requiredRole' | 'disabledReason' | 'loading' | 'onClick'> {
  /** E.g. `Edit`. */
  readonly label: string;
  /** The row's name. */
  readonly rowName: string;
  /** Styled as a destructive action. */
  readonly isDestructive?: boolean;
}

export function RowActionButton({ label, rowName, isDestructive = false, ...button }: RowActionButtonProps) {
  const styleProps = isDestructive ? { variant: 'subtle', color: 'red' } : { variant: 'default' };
  return (
    <RoleGuardedButton {...button} {...styleProps} size="xs" aria-label={`${label} ${rowName}`}>
      {label}
    </RoleGuardedButton>
  );
}

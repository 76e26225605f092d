/**
 * A button that is disabled with a reason when the user's role is too low. It stays focusable, so that everyone can
 * read the reason.
 */
import { Button, type ButtonProps, Tooltip } from '@mantine/core';
import type { MouseEvent, ReactNode } from 'react';
import type { Role } from '../../api/session.js';
import { useMissingRoleReason } from '../../api/session.js';

export interface RoleGuardedButtonProps extends ButtonProps {
  readonly requiredRole: Role;
  /** Another reason to disable the button, e.g. the member is the last owner. */
  readonly disabledReason?: string | null;
  readonly type?: 'button' | 'submit';
  readonly onClick?: () => void;
  readonly children: ReactNode;
}

export function RoleGuardedButton({
  requiredRole,
  disabledReason = null,
  onClick,
  type = 'button',
  children,
  ...props
}: RoleGuardedButtonProps) {
  const missingRoleReason = useMissingRoleReason(requiredRole);
  const reason = missingRoleReason ?? disabledReason;
  if (reason === null) {
    return (
      <Button {...props} type={type} {...(onClick === undefined ? {} : { onClick })}>
        {children}
      </Button>
    );
  }
  return (
    <Tooltip label={reason}>
      <Button
        {...props}
        type="button"
        data-disabled
        aria-disabled
        title={reason}
        onClick={(event: MouseEvent) => event.preventDefault()}
      >
        {children}
      </Button>
    </Tooltip>
  );
}

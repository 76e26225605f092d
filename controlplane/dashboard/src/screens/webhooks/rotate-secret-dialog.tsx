/**
 * Rotates the signing secret. The previous secret also signs deliveries for a grace period, so that the receiver can
 * switch without losing any.
 */
import { Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/api-client.js';
import { FormDialog } from '../../components/forms/form-dialog.js';
import { GracePeriodSelect, ONE_DAY_SECONDS } from '../../components/forms/grace-period-select.js';
import { formErrors } from '../../components/forms/server-errors-at-form-fields.js';
import { type Endpoint, refreshWebhooks } from './fetch-webhooks-retry-deliveries.js';

/** Seconds. */
const GRACE_SECONDS_MAX = 7 * 86_400;

export interface NewSecret {
  readonly secret: string;
  /** Until when the previous secret also signs deliveries; null: it does not. */
  readonly previousUntil: string | null;
}

interface RotateSecretDialogProps {
  readonly endpoint: Endpoint;
  readonly onClose: () => void;
  readonly onRotated: (made: NewSecret) => void;
}

export function RotateSecretDialog({ endpoint, onClose, onRotated }: RotateSecretDialogProps) {
  const { id, previousSecretUntil } = endpoint;
  const [graceSeconds, setGraceSeconds] = useState(ONE_DAY_SECONDS);
  const rotate = useMutation({
    mutationFn: () =>
      api.post('/v1/webhooks/{id}/rotate', { params: { path: { id } }, body: { graceSeconds: Number(graceSeconds) } }),
    gcTime: 0,
    onSuccess: ({ endpoint: { secret, previousSecretUntil: previousUntil } }) => {
      refreshWebhooks();
      onRotated({ secret, previousUntil });
    },
  });
  const errors = formErrors(rotate.error, { graceSeconds: 'Overlap' });
  return (
    <FormDialog
      title="Rotate secret"
      errors={errors}
      onSubmit={() => rotate.mutate()}
      action="Rotate secret"
      pending={rotate.isPending}
      onClose={onClose}
    >
      <Text size="sm">
        Creates a new secret, shown once. Until the overlap ends, each delivery is signed with both secrets, so no
        delivery is lost while you switch.
      </Text>
      {previousSecretUntil !== null && (
        <Text size="sm">An earlier rotation is still in its overlap. The secret before it stops working now.</Text>
      )}
      <GracePeriodSelect
        label="The previous secret stays valid for"
        maxSeconds={GRACE_SECONDS_MAX}
        error={errors.fieldError('graceSeconds')}
        value={graceSeconds}
        onChange={setGraceSeconds}
      />
    </FormDialog>
  );
}

/** Sends a sample event to an endpoint. */
import { NativeSelect, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/api-client.js';
import { showToast } from '../../components/feedback/toast.js';
import { FormDialog } from '../../components/forms/form-dialog.js';
import { formErrors } from '../../components/forms/server-errors-at-form-fields.js';
import { type EventName, useEventTypes } from '../../resources/use-event-types.js';
import { type Endpoint, refreshWebhooks } from './fetch-webhooks-retry-deliveries.js';

interface TestEndpointDialogProps {
  readonly endpoint: Endpoint;
  readonly onClose: () => void;
}

export function TestEndpointDialog({ endpoint, onClose }: TestEndpointDialogProps) {
  const { id, events } = endpoint;
  const { titleOf } = useEventTypes();
  const [event, setEvent] = useState<EventName>(events[0]!);
  const send = useMutation({
    mutationFn: () => api.post('/v1/webhooks/{id}/test', { params: { path: { id } }, body: { event } }),
    onSuccess: () => {
      refreshWebhooks();
      showToast('Test event sent');
      onClose();
    },
  });
  const errors = formErrors(send.error, { event: 'Event' });
  return (
    <FormDialog
      title="Send test event"
      errors={errors}
      onSubmit={() => send.mutate()}
      action="Send"
      pending={send.isPending}
      onClose={onClose}
    >
      <NativeSelect
        label="Event"
        description={event}
        data={events.map((name) => ({ value: name, label: titleOf(name) }))}
        data-autofocus
        error={errors.fieldError('event')}
        value={event}
        onChange={(change) => setEvent(change.currentTarget.value as EventName)}
      />
      <Text size="sm" c="dimmed">
        Sends a sample with a real signature. Its ids are all zeros.
      </Text>
    </FormDialog>
  );
}

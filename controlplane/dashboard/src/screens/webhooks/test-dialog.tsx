/** Sends a sample of an event that the endpoint is told of. */
import { NativeSelect, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/api.js';
import { FormDialog } from '../../parts/form-dialog.js';
import { formProblem } from '../../parts/form-problem.js';
import { toast } from '../../parts/toast.js';
import { type Endpoint, EVENTS, type EventName, refreshWebhooks } from './endpoints.js';

interface TestDialogProps {
  readonly endpoint: Endpoint;
  readonly onClose: () => void;
}

export function TestDialog({ endpoint, onClose }: TestDialogProps) {
  const { id, events } = endpoint;
  const [event, setEvent] = useState<EventName>(events[0]!);
  const send = useMutation({
    mutationFn: () => api.post('/v1/webhooks/{id}/test', { params: { path: { id } }, body: { event } }),
    onSuccess: () => {
      refreshWebhooks();
      toast('A test is on its way');
      onClose();
    },
  });
  const problem = formProblem(send.error, { event: 'Event' });
  return (
    <FormDialog
      title="Send a test"
      problem={problem}
      onSubmit={() => send.mutate()}
      action="Send"
      pending={send.isPending}
      onClose={onClose}
    >
      <NativeSelect
        label="Event"
        description={event}
        data={events.map((name) => ({ value: name, label: EVENTS[name] }))}
        data-autofocus
        error={problem.at('event')}
        value={event}
        onChange={(change) => setEvent(change.currentTarget.value as EventName)}
      />
      <Text size="sm" c="dimmed">
        A sample, signed like the real one; its ids are all zeros.
      </Text>
    </FormDialog>
  );
}

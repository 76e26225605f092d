/** Sends the deliveries of a time range again, e.g. after the receiver was down. */
import { Alert, Group, NativeSelect, Text, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { showToast } from '../../components/feedback/toast.js';
import { FormDialog } from '../../components/forms/form-dialog.js';
import { formErrors } from '../../components/forms/form-errors.js';
import { formatDateTime } from '../../format/format.js';
import {
  type Endpoint,
  EVENT_DESCRIPTIONS,
  type EventName,
  formatReplayedCount,
  replayDeliveries,
} from './webhook-queries.js';

const LABELS = { start: 'From', end: 'Until', status: 'Which', event: 'Event' };
const MINUTES_CHARS = 16;
const STATUS_OPTIONS = [
  { value: 'failed', label: 'those that failed' },
  { value: 'all', label: 'all, delivered ones too' },
] as const;

interface ReplayDialogProps {
  readonly endpoint: Endpoint;
  readonly onClose: () => void;
}

/** As an input of local time has it; `days` and `minutes` are added. */
function formatLocalTimeInput(from: Date, { days = 0, minutes = 0 } = {}): string {
  const local = new Date(from);
  local.setDate(local.getDate() + days);
  local.setMinutes(local.getMinutes() + minutes - local.getTimezoneOffset());
  return local.toISOString().slice(0, MINUTES_CHARS);
}

export function ReplayDialog({ endpoint, onClose }: ReplayDialogProps) {
  const [start, setStart] = useState(() => formatLocalTimeInput(new Date(), { days: -1 }));
  // The minute that has begun is in it.
  const [end, setEnd] = useState(() => formatLocalTimeInput(new Date(), { minutes: 1 }));
  const [which, setWhich] = useState<string>(STATUS_OPTIONS[0].value);
  const [event, setEvent] = useState<EventName | ''>('');
  const send = useMutation({
    mutationFn: () =>
      replayDeliveries(endpoint.id, {
        start: new Date(start).toISOString(),
        end: new Date(end).toISOString(),
        status: which === 'all' ? ['failed', 'success'] : ['failed'],
        ...(event === '' ? {} : { event }),
      }),
    onSuccess: (answer) => {
      showToast(formatReplayedCount(answer.replayed));
      if (answer.remaining === 0 || answer.until === null) onClose();
      else setStart(formatLocalTimeInput(new Date(answer.until)));
    },
  });
  const problem = formErrors(send.error, LABELS);
  const remaining = send.data?.remaining ?? 0;
  return (
    <FormDialog
      title="Send a time range again"
      problem={problem}
      onSubmit={() => send.mutate()}
      action="Send again"
      pending={send.isPending}
      cancel={remaining > 0 ? 'Done' : 'Cancel'}
      onClose={onClose}
    >
      {remaining > 0 && (
        <Alert color="yellow" variant="light" title={`${remaining} are left`} role="status">
          One call sends 1,000 at most. “From” stands where it stopped, {formatDateTime(new Date(start).toISOString())}:
          send again to go on.
        </Alert>
      )}
      <Group grow align="flex-start" preventGrowOverflow={false} wrap="wrap">
        <TextInput
          type="datetime-local"
          label="From"
          required
          withAsterisk={false}
          data-autofocus
          error={problem.fieldError('start')}
          value={start}
          onChange={(change) => setStart(change.currentTarget.value)}
        />
        <TextInput
          type="datetime-local"
          label="Until"
          required
          withAsterisk={false}
          error={problem.fieldError('end')}
          value={end}
          onChange={(change) => setEnd(change.currentTarget.value)}
        />
      </Group>
      <NativeSelect
        label="Which"
        data={[...STATUS_OPTIONS]}
        error={problem.fieldError('status')}
        value={which}
        onChange={(change) => setWhich(change.currentTarget.value)}
      />
      <NativeSelect
        label="Event"
        data={[
          { value: '', label: 'any' },
          ...endpoint.events.map((name) => ({ value: name, label: EVENT_DESCRIPTIONS[name] })),
        ]}
        error={problem.fieldError('event')}
        value={event}
        onChange={(change) => setEvent(change.currentTarget.value as EventName | '')}
      />
      <Text size="sm" c="dimmed">
        In your local time, by when a delivery was made. Each keeps its id, so a receiver that remembers ids takes none
        twice.
      </Text>
    </FormDialog>
  );
}

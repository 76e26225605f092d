/** Replays the deliveries of a time range, e.g. after the receiver was down. */
import { Alert, Group, NativeSelect, Text, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { showToast } from '../../components/feedback/toast.js';
import { FormDialog } from '../../components/forms/form-dialog.js';
import { formErrors } from '../../components/forms/server-errors-at-form-fields.js';
import { formatDateTime, formatTimeInput, parseTimeInput } from '../../format/format.js';
import { timeZoneUnit } from '../../format/time-zone.js';
import { type EventName, useEventTypes } from '../../resources/use-event-types.js';
import { type Endpoint, formatReplayedCount, replayDeliveries } from './fetch-webhooks-retry-deliveries.js';

const LABELS = { start: 'From', end: 'To', status: 'Deliveries', event: 'Event' };
const STATUS_OPTIONS = [
  { value: 'failed', label: 'Failed' },
  { value: 'all', label: 'Failed and delivered' },
] as const;

interface ReplayDialogProps {
  readonly endpoint: Endpoint;
  readonly onClose: () => void;
}

/** The current time, after adding `days` and `minutes`. */
function fromNow({ days = 0, minutes = 0 }): Date {
  const at = new Date();
  at.setDate(at.getDate() + days);
  at.setMinutes(at.getMinutes() + minutes);
  return at;
}

export function ReplayDialog({ endpoint, onClose }: ReplayDialogProps) {
  const [start, setStart] = useState(() => formatTimeInput(fromNow({ days: -1 })));
  // Includes the current minute.
  const [end, setEnd] = useState(() => formatTimeInput(fromNow({ minutes: 1 })));
  const [statusOption, setWhich] = useState<string>(STATUS_OPTIONS[0].value);
  const [event, setEvent] = useState<EventName | ''>('');
  const { titleOf } = useEventTypes();
  const send = useMutation({
    mutationFn: () =>
      replayDeliveries(endpoint.id, {
        start: new Date(parseTimeInput(start)).toISOString(),
        end: new Date(parseTimeInput(end)).toISOString(),
        status: statusOption === 'all' ? ['failed', 'success'] : ['failed'],
        ...(event === '' ? {} : { event }),
      }),
    onSuccess: (response) => {
      showToast(formatReplayedCount(response.replayed));
      if (response.remaining === 0 || response.until === null) onClose();
      else setStart(formatTimeInput(new Date(response.until)));
    },
  });
  const errors = formErrors(send.error, LABELS);
  const remaining = send.data?.remaining ?? 0;
  return (
    <FormDialog
      title="Replay deliveries"
      errors={errors}
      onSubmit={() => send.mutate()}
      action="Replay"
      pending={send.isPending}
      cancel={remaining > 0 ? 'Done' : 'Cancel'}
      onClose={onClose}
    >
      {remaining > 0 && (
        <Alert color="yellow" variant="light" title={`${remaining} left`} role="status">
          One replay sends at most 1,000 deliveries. “From” is now{' '}
          {formatDateTime(new Date(parseTimeInput(start)).toISOString())}, where it stopped. Replay again to continue.
        </Alert>
      )}
      <Group grow align="flex-start" preventGrowOverflow={false} wrap="wrap">
        <TextInput
          type="datetime-local"
          label="From"
          required
          withAsterisk={false}
          data-autofocus
          error={errors.fieldError('start')}
          value={start}
          onChange={(change) => setStart(change.currentTarget.value)}
        />
        <TextInput
          type="datetime-local"
          label="To"
          required
          withAsterisk={false}
          error={errors.fieldError('end')}
          value={end}
          onChange={(change) => setEnd(change.currentTarget.value)}
        />
      </Group>
      <NativeSelect
        label="Deliveries"
        data={[...STATUS_OPTIONS]}
        error={errors.fieldError('status')}
        value={statusOption}
        onChange={(change) => setWhich(change.currentTarget.value)}
      />
      <NativeSelect
        label="Event"
        data={[
          { value: '', label: 'Any event' },
          ...endpoint.events.map((name) => ({ value: name, label: titleOf(name) })),
        ]}
        error={errors.fieldError('event')}
        value={event}
        onChange={(change) => setEvent(change.currentTarget.value as EventName | '')}
      />
      <Text size="sm" c="dimmed">
        Selects deliveries by creation time, in {timeZoneUnit(Date.now())}. Each keeps its id, so receivers can ignore
        duplicates.
      </Text>
    </FormDialog>
  );
}

/** Sends the deliveries of a time range again, e.g. after the receiver was down. */
import { Alert, Group, NativeSelect, Text, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { dateTime } from '../../format/format.js';
import { FormDialog } from '../../parts/form-dialog.js';
import { formProblem } from '../../parts/form-problem.js';
import { toast } from '../../parts/toast.js';
import { type Endpoint, EVENTS, type EventName, replay, sentAgain } from './endpoints.js';

const LABELS = { start: 'From', end: 'Until', status: 'Which', event: 'Event' };
const MINUTES_CHARS = 16;
const WHICH = [
  { value: 'failed', label: 'those that failed' },
  { value: 'all', label: 'all, delivered ones too' },
] as const;

interface ReplayDialogProps {
  readonly endpoint: Endpoint;
  readonly onClose: () => void;
}

/** As an input of local time has it; `days` and `minutes` are added. */
function localMinute(from: Date, { days = 0, minutes = 0 } = {}): string {
  const local = new Date(from);
  local.setDate(local.getDate() + days);
  local.setMinutes(local.getMinutes() + minutes - local.getTimezoneOffset());
  return local.toISOString().slice(0, MINUTES_CHARS);
}

export function ReplayDialog({ endpoint, onClose }: ReplayDialogProps) {
  const [start, setStart] = useState(() => localMinute(new Date(), { days: -1 }));
  // The minute that has begun is in it.
  const [end, setEnd] = useState(() => localMinute(new Date(), { minutes: 1 }));
  const [which, setWhich] = useState<string>(WHICH[0].value);
  const [event, setEvent] = useState<EventName | ''>('');
  const send = useMutation({
    mutationFn: () =>
      replay(endpoint.id, {
        start: new Date(start).toISOString(),
        end: new Date(end).toISOString(),
        status: which === 'all' ? ['failed', 'success'] : ['failed'],
        ...(event === '' ? {} : { event }),
      }),
    onSuccess: (answer) => {
      toast(sentAgain(answer.replayed));
      if (answer.remaining === 0 || answer.until === null) onClose();
      else setStart(localMinute(new Date(answer.until)));
    },
  });
  const problem = formProblem(send.error, LABELS);
  const left = send.data?.remaining ?? 0;
  return (
    <FormDialog
      title="Send a time range again"
      problem={problem}
      onSubmit={() => send.mutate()}
      action="Send again"
      pending={send.isPending}
      cancel={left > 0 ? 'Done' : 'Cancel'}
      onClose={onClose}
    >
      {left > 0 && (
        <Alert color="yellow" variant="light" title={`${left} are left`} role="status">
          One call sends 1,000 at most. “From” stands where it stopped, {dateTime(new Date(start).toISOString())}: send
          again to go on.
        </Alert>
      )}
      <Group grow align="flex-start" preventGrowOverflow={false} wrap="wrap">
        <TextInput
          type="datetime-local"
          label="From"
          required
          withAsterisk={false}
          data-autofocus
          error={problem.at('start')}
          value={start}
          onChange={(change) => setStart(change.currentTarget.value)}
        />
        <TextInput
          type="datetime-local"
          label="Until"
          required
          withAsterisk={false}
          error={problem.at('end')}
          value={end}
          onChange={(change) => setEnd(change.currentTarget.value)}
        />
      </Group>
      <NativeSelect
        label="Which"
        data={[...WHICH]}
        error={problem.at('status')}
        value={which}
        onChange={(change) => setWhich(change.currentTarget.value)}
      />
      <NativeSelect
        label="Event"
        data={[{ value: '', label: 'any' }, ...endpoint.events.map((name) => ({ value: name, label: EVENTS[name] }))]}
        error={problem.at('event')}
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

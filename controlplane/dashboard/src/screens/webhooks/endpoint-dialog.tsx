/** Creates a webhook endpoint, or edits its URL and events. */
import { Checkbox, Stack, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { api } from '../../api/api-client.js';
import { useFormDraft } from '../../api/form-drafts-across-sign-in.js';
import { FormDialog } from '../../components/forms/form-dialog.js';
import { formErrors } from '../../components/forms/server-errors-at-form-fields.js';
import { useEventTypes } from '../../resources/use-event-types.js';
import type { Endpoint } from './fetch-webhooks-retry-deliveries.js';

interface EndpointDialogProps {
  /** Null: a new endpoint. */
  readonly endpoint: Endpoint | null;
  readonly onClose: () => void;
  /** `secret`: the signing secret of a new endpoint; null after an edit. */
  readonly onSaved: (secret: string | null) => void;
}

export function EndpointDialog({ endpoint, onClose, onSaved }: EndpointDialogProps) {
  const [url, setUrl] = useFormDraft(`endpoint ${endpoint?.id ?? 'new'} url`, endpoint?.url ?? '');
  const { types } = useEventTypes();
  /** Null: every event. */
  const [chosen, setChosen] = useFormDraft<readonly string[] | null>(
    `endpoint ${endpoint?.id ?? 'new'} events`,
    endpoint?.events ?? null,
  );
  const events = types.map(({ event }) => event).filter((event) => chosen?.includes(event) ?? true);
  const save = useMutation({
    mutationFn: async () => {
      const body = { url: url.trim(), events };
      if (endpoint === null) return (await api.post('/v1/webhooks', { body })).endpoint.secret;
      await api.patch('/v1/webhooks/{id}', { params: { path: { id: endpoint.id } }, body });
      return null;
    },
    gcTime: 0,
    onSuccess: onSaved,
  });
  const errors = formErrors(save.error, { url: 'Endpoint URL', events: 'Events' });
  return (
    <FormDialog
      title={endpoint === null ? 'Add endpoint' : 'Edit endpoint'}
      size="lg"
      errors={errors}
      onSubmit={() => save.mutate()}
      action="Save"
      pending={save.isPending}
      disabled={events.length === 0}
      onClose={onClose}
    >
      <TextInput
        label="Endpoint URL"
        error={errors.fieldError('url')}
        placeholder="https://example.com/hooks/gateway"
        required
        type="url"
        data-autofocus
        autoComplete="off"
        value={url}
        onChange={(event) => setUrl(event.currentTarget.value)}
      />
      <Checkbox.Group label="Events" error={errors.fieldError('events')} value={events} onChange={setChosen}>
        <Stack gap="xs" mt="xs">
          {types.map(({ event, title }) => (
            <Checkbox key={event} value={event} label={title} description={event} />
          ))}
        </Stack>
      </Checkbox.Group>
    </FormDialog>
  );
}

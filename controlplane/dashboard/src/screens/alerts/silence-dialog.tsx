/** Silences the rule of an alert for a while. */
import { NativeSelect, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/api-client.js';
import { showToast } from '../../components/feedback/toast.js';
import { FormDialog } from '../../components/forms/form-dialog.js';
import { formErrors } from '../../components/forms/server-errors-at-form-fields.js';
import { formatDateTime } from '../../format/format.js';
import { type Alert, refreshAlerts, SILENCES, silenceEnd } from './fetch-alert-rules.js';

export function SilenceDialog({ alert, onClose }: { readonly alert: Alert; readonly onClose: () => void }) {
  const [ms, setMs] = useState(String(SILENCES[1]![1]));
  const silence = useMutation({
    mutationFn: () =>
      api.post('/v1/alerts/{id}/silence', {
        params: { path: { id: alert.id } },
        body: { until: silenceEnd(Number(ms)) },
      }),
    onSuccess: ({ alert: { ruleName, silencedUntil } }) => {
      refreshAlerts();
      onClose();
      showToast(`${ruleName} is silent until ${formatDateTime(silencedUntil!)}`);
    },
  });
  return (
    <FormDialog
      title={`Silence ${alert.ruleName}`}
      errors={formErrors(silence.error, { until: 'For' })}
      onSubmit={() => silence.mutate()}
      action="Silence"
      pending={silence.isPending}
      onClose={onClose}
    >
      <Text size="sm">
        The rule sends no event of an alert that opens until then. If it is still met at the end and the alert is not
        acknowledged, it sends one.
      </Text>
      <NativeSelect
        label="For"
        data={SILENCES.map(([label, value]) => ({ value: String(value), label }))}
        value={ms}
        onChange={(event) => setMs(event.currentTarget.value)}
      />
    </FormDialog>
  );
}

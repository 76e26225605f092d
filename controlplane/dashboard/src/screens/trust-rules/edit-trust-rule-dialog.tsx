/** Changes a trust rule. Only what differs is sent: a new name alone ends no gateway tokens. */
import { Checkbox, JsonInput, NativeSelect, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/api-client.js';
import { showToast } from '../../components/feedback/toast.js';
import { FormDialog } from '../../components/forms/form-dialog.js';
import { NameInput } from '../../components/forms/name-input.js';
import { formErrors } from '../../components/forms/server-errors-at-form-fields.js';
import { refreshTrustRules, type TrustRule } from './fetch-trust-rules.js';
import { type ConditionRow, ConditionsInput, LABELS, LIFETIMES, parseKeys, toConditions } from './trust-rule-fields.js';

const MINUTE_S = 60;

interface EditTrustRuleDialogProps {
  readonly rule: TrustRule;
  readonly onClose: () => void;
}

export function EditTrustRuleDialog({ rule, onClose }: EditTrustRuleDialogProps) {
  const [name, setName] = useState(rule.name);
  const [rows, setRows] = useState<readonly ConditionRow[]>(
    rule.conditions.flatMap(({ claim, values }) => values.map((value) => ({ claim, value }))),
  );
  const [lifetime, setLifetime] = useState(String(rule.keyLifetimeSeconds));
  const [once, setOnce] = useState(rule.jtiOnce);
  const [keys, setKeys] = useState('');
  const conditions = toConditions(rows);
  const jwks = keys.trim() === '' ? undefined : parseKeys(keys);
  const body = {
    ...(name.trim() === rule.name ? {} : { name: name.trim() }),
    ...(JSON.stringify(conditions) === JSON.stringify(rule.conditions) ? {} : { conditions }),
    ...(Number(lifetime) === rule.keyLifetimeSeconds ? {} : { keyLifetimeSeconds: Number(lifetime) }),
    ...(once === rule.jtiOnce ? {} : { jtiOnce: once }),
    ...(jwks === undefined || jwks === null ? {} : { jwks }),
  };
  const endsTokens = Object.keys(body).some((field) => field !== 'name');
  const save = useMutation({
    mutationFn: () => api.patch('/v1/trust-rules/{id}', { params: { path: { id: rule.id } }, body }),
    onSuccess: () => {
      refreshTrustRules();
      showToast(`${name.trim()} saved`);
      onClose();
    },
  });
  const errors = formErrors(save.error, LABELS);
  const isListed = LIFETIMES.some(({ value }) => value === String(rule.keyLifetimeSeconds));
  const present = {
    value: String(rule.keyLifetimeSeconds),
    label: `${rule.keyLifetimeSeconds / MINUTE_S} minutes`,
  };
  return (
    <FormDialog
      title={`Edit ${rule.name}`}
      size="lg"
      errors={errors}
      onSubmit={() => save.mutate()}
      action="Save"
      pending={save.isPending}
      disabled={Object.keys(body).length === 0 || conditions.length === 0 || jwks === null}
      onClose={onClose}
    >
      <Text size="sm">
        You cannot change the agent ({rule.agentName}) or the issuer ({rule.issuer}). Create a new rule instead.
      </Text>
      <NameInput error={errors.fieldError('name')} value={name} onChange={setName} />
      <ConditionsInput rows={rows} onChange={setRows} error={errors.fieldError('conditions')} />
      {rule.keySource === 'upload' && (
        <JsonInput
          label="Public keys"
          description="A JWK set that replaces the uploaded one. Leave it empty to keep that."
          autosize
          minRows={2}
          maxRows={8}
          error={jwks === null ? 'This is not JSON.' : errors.fieldError('jwks')}
          value={keys}
          onChange={setKeys}
        />
      )}
      <NativeSelect
        label="Lifetime of a gateway token"
        data={isListed ? LIFETIMES : [present, ...LIFETIMES]}
        error={errors.fieldError('keyLifetimeSeconds')}
        value={lifetime}
        onChange={(event) => setLifetime(event.currentTarget.value)}
      />
      <Checkbox
        label="Accept each token once"
        description="Identified by the claim jti. Tokens without it are rejected."
        checked={once}
        onChange={(event) => setOnce(event.currentTarget.checked)}
      />
      {endsTokens && (
        <Text size="sm" fw={500}>
          All gateway tokens of this rule end within a second, and their running calls break off. Workloads get new ones
          from the changed rule.
        </Text>
      )}
    </FormDialog>
  );
}

/** Creates a trust rule, with the usual issuer and claims of a platform. */
import { Checkbox, JsonInput, NativeSelect, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { api } from '../../api/api-client.js';
import { useFormDraft } from '../../api/form-drafts-across-sign-in.js';
import { AgentSelect } from '../../components/forms/agent-select.js';
import { FormDialog } from '../../components/forms/form-dialog.js';
import { NameInput } from '../../components/forms/name-input.js';
import { formErrors } from '../../components/forms/server-errors-at-form-fields.js';
import { PLATFORMS, type Platform } from './platforms.js';
import { type ConditionRow, ConditionsInput, LABELS, LIFETIMES, parseKeys, toConditions } from './trust-rule-fields.js';

const emptyRows = ({ claims }: Platform): readonly ConditionRow[] => claims.map((claim) => ({ claim, value: '' }));

interface NewTrustRuleDialogProps {
  readonly onClose: () => void;
  readonly onCreated: (id: string) => void;
}

export function NewTrustRuleDialog({ onClose, onCreated }: NewTrustRuleDialogProps) {
  const [platformName, setPlatformName] = useFormDraft<string>('new rule platform', PLATFORMS[0].value);
  const platform = PLATFORMS.find(({ value }) => value === platformName) ?? PLATFORMS[0];
  const [name, setName] = useFormDraft('new rule name', '');
  const [agentId, setAgentId] = useFormDraft('new rule agent', '');
  const [issuer, setIssuer] = useFormDraft('new rule issuer', platform.issuer);
  const [rows, setRows] = useFormDraft<readonly ConditionRow[]>('new rule conditions', emptyRows(platform));
  const [keys, setKeys] = useFormDraft('new rule keys', '');
  const [lifetime, setLifetime] = useFormDraft('new rule lifetime', '900');
  const [once, setOnce] = useFormDraft('new rule once', false);
  const conditions = toConditions(rows);
  const jwks = platform.needsKeys && keys.trim() !== '' ? parseKeys(keys) : undefined;
  const create = useMutation({
    mutationFn: () =>
      api.post('/v1/trust-rules', {
        body: {
          name: name.trim(),
          agentId,
          issuer: issuer.trim(),
          conditions,
          keyLifetimeSeconds: Number(lifetime),
          jtiOnce: platform.canAcceptOnce && once,
          ...(jwks === undefined || jwks === null ? {} : { jwks }),
        },
      }),
    onSuccess: ({ rule }) => onCreated(rule.id),
  });
  const errors = formErrors(create.error, LABELS);
  const choosePlatform = (value: string): void => {
    const chosen = PLATFORMS.find((one) => one.value === value) ?? PLATFORMS[0];
    setPlatformName(chosen.value);
    setIssuer(chosen.issuer);
    setRows(emptyRows(chosen));
  };
  return (
    <FormDialog
      title="New trust rule"
      size="lg"
      errors={errors}
      onSubmit={() => create.mutate()}
      action="Create trust rule"
      pending={create.isPending}
      disabled={agentId === '' || conditions.length === 0 || jwks === null}
      onClose={onClose}
    >
      <NativeSelect
        label="Platform"
        data={PLATFORMS.map(({ value, label }) => ({ value, label }))}
        value={platform.value}
        onChange={(event) => choosePlatform(event.currentTarget.value)}
      />
      <NameInput error={errors.fieldError('name')} placeholder="deploy workflow" value={name} onChange={setName} />
      <AgentSelect
        label="Agent"
        placeholder="Search by name"
        error={errors.fieldError('agentId')}
        value={agentId}
        onChange={setAgentId}
      />
      <TextInput
        label="Issuer"
        required
        description="The claim iss of the workload’s tokens, with every slash."
        placeholder={platform.issuerPlaceholder}
        error={errors.fieldError('issuer')}
        value={issuer}
        onChange={(event) => setIssuer(event.currentTarget.value)}
      />
      <ConditionsInput rows={rows} onChange={setRows} hint={platform.hint} error={errors.fieldError('conditions')} />
      {platform.needsKeys && (
        <JsonInput
          label="Public keys"
          description="A JWK set. Leave it empty where the issuer has a public discovery document."
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
        data={LIFETIMES}
        error={errors.fieldError('keyLifetimeSeconds')}
        value={lifetime}
        onChange={(event) => setLifetime(event.currentTarget.value)}
      />
      {platform.canAcceptOnce && (
        <Checkbox
          label="Accept each token once"
          description="Identified by the claim jti. A copied token cannot be exchanged again."
          checked={once}
          onChange={(event) => setOnce(event.currentTarget.checked)}
        />
      )}
    </FormDialog>
  );
}

/** Checks whether a call would pass the policy in the form, before it is saved. */
import { rejectionAdvice } from '@acg/base/rejection-reasons';
import { Button, Card, Group, Select, Stack, Text, TextInput, Title } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/api-client.js';
import { StatusBadge } from '../../components/feedback/status-badge.js';
import { Form } from '../../components/forms/form-with-server-errors.js';
import { formErrors } from '../../components/forms/server-errors-at-form-fields.js';
import { rejectionLabel } from '../../messages/rejection-label.js';
import type { Agent } from '../../resources/agent-account-and-key-hooks.js';

const LABELS = { providerSlug: 'Provider', call: 'Call', model: 'Model' };

interface PolicyCheckProps {
  readonly agentId: string;
  /** The policy in the form. */
  readonly policy: Agent['policy'];
  /** Providers of the agent. */
  readonly slugs: readonly string[];
  readonly nameOf: (slug: string) => string;
}

export function PolicyCheck({ agentId, policy, slugs, nameOf }: PolicyCheckProps) {
  const [slug, setSlug] = useState(slugs[0] ?? '');
  const [call, setCall] = useState('');
  const [model, setModel] = useState('');
  const check = useMutation({
    mutationFn: (checked: Agent['policy']) =>
      api.post('/v1/agents/{id}/call-check', {
        params: { path: { id: agentId } },
        body: {
          providerSlug: slug,
          call: call.trim(),
          policy: checked,
          ...(model.trim() === '' ? {} : { model: model.trim() }),
        },
      }),
  });
  const errors = formErrors(check.error, LABELS);
  // A verdict about another call must not stay.
  const change = (set: (value: string) => void) => (value: string) => {
    check.reset();
    set(value);
  };
  return (
    <Card component="section" aria-label="Would this call pass?">
      <Form errors={errors} onSubmit={() => check.mutate(policy)}>
        <Stack gap="md">
          <div>
            <Title order={2}>Would this call pass?</Title>
            <Text size="sm" c="dimmed">
              Checks the policy above, also before it is saved. Limits and budgets are not checked.
            </Text>
          </div>
          <Group align="flex-start" gap="md">
            <Select
              label="Provider"
              placeholder="No provider"
              data={slugs.map((value) => ({ value, label: nameOf(value) }))}
              allowDeselect={false}
              value={slug === '' ? null : slug}
              onChange={(value) => change(setSlug)(value ?? '')}
              error={errors.fieldError('providerSlug')}
            />
            <TextInput
              label="Call"
              placeholder="POST /v1/chat/completions"
              miw={260}
              flex={1}
              required
              value={call}
              onChange={(event) => change(setCall)(event.currentTarget.value)}
              error={errors.fieldError('call')}
            />
            <TextInput
              label="Model (optional)"
              value={model}
              onChange={(event) => change(setModel)(event.currentTarget.value)}
              error={errors.fieldError('model')}
            />
          </Group>
          <Group gap="md">
            <Button type="submit" variant="default" loading={check.isPending} disabled={slug === ''}>
              Check
            </Button>
            <div role="status">
              {check.data !== undefined && check.variables === policy && <Verdict reason={check.data.reason} />}
            </div>
          </Group>
        </Stack>
      </Form>
    </Card>
  );
}

function Verdict({ reason }: { readonly reason: string | null }) {
  if (reason === null) return <StatusBadge tone="success">The call would pass</StatusBadge>;
  const { cause, remedy } = rejectionAdvice(reason);
  return (
    <Text size="sm" component="div">
      <StatusBadge tone="error">{`Rejected: ${rejectionLabel(reason)}`}</StatusBadge> {cause} {remedy}
    </Text>
  );
}

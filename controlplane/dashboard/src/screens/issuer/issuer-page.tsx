/** The gateway as issuer: its URLs, its signing keys and their rotation, and what to enter at each provider. */
import { Card, Group, NativeSelect, Skeleton, Stack, Switch, Text, Title } from '@mantine/core';
import { useMissingRoleReason } from '../../api/session.js';
import { InlineCopy } from '../../components/buttons/inline-copy.js';
import { ProviderSetupSteps, UnreachableIssuer } from '../../components/credentials/provider-setup.js';
import { ErrorAlert } from '../../components/feedback/error-alert.js';
import { showErrorToast, showToast } from '../../components/feedback/toast.js';
import { AgentSelect } from '../../components/forms/agent-select.js';
import { Facts } from '../../components/layout/facts.js';
import { PageHeader } from '../../components/layout/page-header.js';
import { useUrlState } from '../../hooks/use-url-state.js';
import { type Issuer, useIssuer, useSetManualRotation } from '../../resources/issuer-hooks.js';
import { IssuerKeys } from './issuer-keys.js';

const DEFAULTS = { agent: '', provider: '' };

export function IssuerPage() {
  const { values, set } = useUrlState(DEFAULTS);
  const issuer = useIssuer(values.agent);
  return (
    <>
      <PageHeader
        title="Issuer"
        description="The gateway signs short-lived tokens for agents. Providers that trust them need no stored secret."
      />
      {issuer.error !== null && <ErrorAlert error={issuer.error} onRetry={issuer.refetch} />}
      {issuer.data === undefined && issuer.error === null && <Skeleton h={320} />}
      {issuer.data !== undefined && (
        <Stack gap="xl">
          <IssuerFacts issuer={issuer.data} />
          <IssuerKeys query={issuer} issuer={issuer.data} />
          <Setups
            issuer={issuer.data}
            agentId={values.agent}
            onAgent={(agent) => set({ agent })}
            providerSlug={values.provider}
            onProvider={(provider) => set({ provider })}
          />
        </Stack>
      )}
    </>
  );
}

function IssuerFacts({ issuer }: { readonly issuer: Issuer }) {
  const missingRole = useMissingRoleReason('admin');
  const setManual = useSetManualRotation();
  const { url, discoveryUrl, jwksUrl, isPublic, manualRotation } = issuer;
  return (
    <Stack gap="sm">
      {!isPublic && <UnreachableIssuer />}
      <Facts
        label="About this issuer"
        facts={[
          { label: 'Issuer URL', value: <InlineCopy value={url} what="issuer URL" /> },
          { label: 'Discovery document', value: <InlineCopy value={discoveryUrl} what="discovery URL" /> },
          { label: 'JWKS URL', value: <InlineCopy value={jwksUrl} what="JWKS URL" /> },
          { label: 'Reachable for providers', value: isPublic ? 'Yes, by its URL' : 'No' },
        ]}
      />
      <Switch
        label="Activate new keys by hand"
        description="For providers that hold an uploaded JWKS: a new key signs only after an admin has activated it."
        checked={manualRotation}
        disabled={missingRole !== null || setManual.isPending}
        title={missingRole ?? ''}
        onChange={(event) =>
          setManual.mutate(event.currentTarget.checked, {
            onSuccess: (_, isManual) =>
              showToast(isManual ? 'New keys wait for an admin' : 'Keys rotate automatically'),
            onError: showErrorToast,
          })
        }
      />
    </Stack>
  );
}

interface SetupsProps {
  readonly issuer: Issuer;
  readonly agentId: string;
  readonly onAgent: (id: string) => void;
  readonly providerSlug: string;
  readonly onProvider: (slug: string) => void;
}

function Setups({ issuer, agentId, onAgent, providerSlug, onProvider }: SetupsProps) {
  const { setups } = issuer;
  const setup = setups.find((one) => one.providerSlug === providerSlug) ?? setups[0];
  return (
    <Card component="section" aria-label="Set-up at providers">
      <Title order={2} mb="sm">
        Set-up at providers
      </Title>
      <Stack gap="md">
        <Text size="sm">
          Tokens name the agent as their subject. Select it to get its values, then add the account with this kind of
          credential.
        </Text>
        <Group gap="md" align="flex-end" grow preventGrowOverflow={false}>
          <AgentSelect label="Agent" placeholder="Search by name" value={agentId} onChange={onAgent} />
          <NativeSelect
            label="Provider"
            data={setups.map((one) => ({ value: one.providerSlug, label: one.label }))}
            value={setup?.providerSlug ?? ''}
            onChange={(event) => onProvider(event.currentTarget.value)}
          />
        </Group>
        {setup !== undefined && <ProviderSetupSteps issuer={{ ...issuer, isPublic: true }} setup={setup} />}
      </Stack>
    </Card>
  );
}

/** What to enter at a provider, so that it takes tokens of the gateway: the organization's own values, to copy. */
import { Alert, Anchor, Group, List, Skeleton, Stack, Text } from '@mantine/core';
import { type Issuer, type ProviderSetup, useIssuer } from '../../resources/issuer-hooks.js';
import { CopyButton } from '../buttons/copy-button.js';
import { InlineCopy } from '../buttons/inline-copy.js';
import { DetailRow } from '../feedback/detail-row.js';
import { ErrorAlert } from '../feedback/error-alert.js';
import { PageLink } from '../layout/page-link.js';

interface ProviderSetupStepsProps {
  readonly issuer: Issuer;
  readonly setup: ProviderSetup;
}

export function ProviderSetupSteps({ issuer, setup }: ProviderSetupStepsProps) {
  const { label, audience, docs, steps } = setup;
  const text = [label, ...steps.map((step, i) => `${i + 1}. ${step}`)].join('\n');
  return (
    <Stack gap="sm" component="section" aria-label={`Set-up: ${label}`}>
      {!issuer.isPublic && <UnreachableIssuer />}
      <Stack component="dl" gap={6} m={0}>
        <DetailRow label="Issuer">
          <InlineCopy value={issuer.url} what="issuer" />
        </DetailRow>
        <DetailRow label="Subject">
          {issuer.subject === null ? (
            'project:<projectId>:agent:<agentId>'
          ) : (
            <InlineCopy value={issuer.subject} what="subject" />
          )}
        </DetailRow>
        <DetailRow label="Audience">
          <InlineCopy value={audience} what="audience" />
        </DetailRow>
      </Stack>
      <List type="ordered" size="sm" spacing={6} className="acg-break-anywhere">
        {steps.map((step) => (
          <List.Item key={step}>{step}</List.Item>
        ))}
      </List>
      <Group gap="md">
        <CopyButton value={text} label="Copy instructions" />
        {docs !== null && (
          <Anchor href={docs} target="_blank" rel="noreferrer" size="sm" underline="always">
            Reference of the provider
          </Anchor>
        )}
      </Group>
    </Stack>
  );
}

export const UnreachableIssuer = () => (
  <Alert color="yellow" variant="light" title="Providers cannot reach this issuer">
    <Text size="sm">
      Its URL is not an https URL with a public name. Download the JWKS and upload it where the provider accepts one, or
      have the operator set ISSUER_URL to a public address.
    </Text>
  </Alert>
);

interface AccountSetupProps {
  readonly agentId: string;
  readonly providerSlug: string;
  /** `method` of the credentials. */
  readonly method: string;
}

/** Renders nothing for methods that do not take tokens of the gateway. */
export function AccountSetup({ agentId, providerSlug, method }: AccountSetupProps) {
  const issuer = useIssuer(agentId);
  if (issuer.error !== null) return <ErrorAlert error={issuer.error} onRetry={issuer.refetch} />;
  if (issuer.data === undefined) return <Skeleton h={160} />;
  const setup = issuer.data.setups.find((one) => one.providerSlug === providerSlug && one.method === method);
  if (setup === undefined) return null;
  return (
    <Stack gap="sm" mt="md">
      <Text size="sm">
        This account holds no secret: the provider trusts tokens that the gateway signs for this agent. Keys and JWKS:{' '}
        <PageLink href={`/issuer?agent=${agentId}&provider=${providerSlug}`}>Issuer</PageLink>.
      </Text>
      <ProviderSetupSteps issuer={issuer.data} setup={setup} />
    </Stack>
  );
}

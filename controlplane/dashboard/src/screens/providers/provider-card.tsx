/** A card of a provider: its address, its path on the gateway and its credential fields. */
import { Anchor, Card, Code, Group, Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { AuthPreview } from './auth-preview.js';
import type { Provider } from './provider-types.js';

interface ProviderCardProps {
  readonly provider: Provider;
  readonly actions?: ReactNode;
}

export function ProviderCard({ provider, actions }: ProviderCardProps) {
  const { slug, displayName, baseUrl, credentialFields, sensitivePaths, opaqueCalls, origins, docs } = provider;
  const needed = credentialFields.filter(({ required }) => required).map(({ label }) => label);
  return (
    <Card component="section" aria-label={displayName} padding="md">
      <Group justify="space-between" gap="sm" mb="sm">
        <Title order={3} className="acg-break-anywhere">
          {displayName}
        </Title>
        {actions}
      </Group>
      <Stack gap={6}>
        <DetailRow name="Address">{baseUrl ?? 'set per account'}</DetailRow>
        <DetailRow name="Agents call">
          {origins.map((origin) => (
            <Code key={origin} className="acg-break-anywhere">
              /v1/proxy/{origin === 'default' ? slug : `${slug}:${origin}`}/…
            </Code>
          ))}
        </DetailRow>
        <DetailRow name="Credential fields">{needed.length === 0 ? 'none' : needed.join(', ')}</DetailRow>
        <DetailRow name="Authentication">
          <AuthPreview {...provider} />
        </DetailRow>
        {sensitivePaths.length > 0 && (
          <DetailRow name="Rejected unless the account allows them">
            {sensitivePaths.length === 1
              ? '1 kind of sensitive call'
              : `${sensitivePaths.length} kinds of sensitive calls`}
            {opaqueCalls.length > 0 && `, and ${opaqueCalls.map(({ call }) => call).join(', ')}`}
          </DetailRow>
        )}
        {docs !== null && (
          <Anchor href={docs} target="_blank" rel="noreferrer" size="sm">
            {displayName} reference
          </Anchor>
        )}
      </Stack>
    </Card>
  );
}

const DetailRow = ({ name, children }: { readonly name: string; readonly children: ReactNode }) => (
  <div>
    <span className="acg-label">{name}</span>
    <Text size="sm" component="div" className="acg-break-anywhere">
      {children}
    </Text>
  </div>
);

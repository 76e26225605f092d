/** One provider: where it is, how agents call it, and what its accounts need. */
import { Card, Code, Group, Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { AuthPreview } from './auth-preview.js';
import type { Provider } from './provider-types.js';

interface ProviderCardProps {
  readonly provider: Provider;
  readonly actions?: ReactNode;
}

export function ProviderCard({ provider, actions }: ProviderCardProps) {
  const { slug, displayName, baseUrl, credentialFields, sensitivePaths } = provider;
  const needed = credentialFields.filter(({ required }) => required).map(({ label }) => label);
  return (
    <Card component="section" aria-label={displayName} padding="md">
      <Group justify="space-between" gap="sm" mb="sm">
        <Title order={3} className="acg-break">
          {displayName}
        </Title>
        {actions}
      </Group>
      <Stack gap={6}>
        <DetailRow name="Address">{baseUrl ?? 'each account has its own'}</DetailRow>
        <DetailRow name="Agents call">
          <Code className="acg-break">/v1/proxy/{slug}/…</Code>
        </DetailRow>
        <DetailRow name="Needs">{needed.length === 0 ? 'nothing' : needed.join(', ')}</DetailRow>
        <DetailRow name="Is sent">
          <AuthPreview {...provider} />
        </DetailRow>
        {sensitivePaths.length > 0 && (
          <DetailRow name="Refused unless an account allows it">
            {sensitivePaths.length === 1 ? 'one kind of call' : `${sensitivePaths.length} kinds of calls`}
          </DetailRow>
        )}
      </Stack>
    </Card>
  );
}

const DetailRow = ({ name, children }: { readonly name: string; readonly children: ReactNode }) => (
  <div>
    <span className="acg-label">{name}</span>
    <Text size="sm" component="div" className="acg-break">
      {children}
    </Text>
  </div>
);

/** One provider: where it is, how agents call it, and what its accounts need. */
import { Card, Code, Group, Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Provider } from './provider.js';
import { SentAs } from './sent-as.js';

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
        <Fact name="Address">{baseUrl ?? 'each account has its own'}</Fact>
        <Fact name="Agents call">
          <Code className="acg-break">/v1/proxy/{slug}/…</Code>
        </Fact>
        <Fact name="Needs">{needed.length === 0 ? 'nothing' : needed.join(', ')}</Fact>
        <Fact name="Is sent">
          <SentAs {...provider} />
        </Fact>
        {sensitivePaths.length > 0 && (
          <Fact name="Refused unless an account allows it">
            {sensitivePaths.length === 1 ? 'one kind of call' : `${sensitivePaths.length} kinds of calls`}
          </Fact>
        )}
      </Stack>
    </Card>
  );
}

const Fact = ({ name, children }: { readonly name: string; readonly children: ReactNode }) => (
  <div>
    <span className="acg-label">{name}</span>
    <Text size="sm" component="div" className="acg-break">
      {children}
    </Text>
  </div>
);

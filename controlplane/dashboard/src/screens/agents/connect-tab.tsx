/** How to make the agent call through the gateway. */
import { Alert, Card, Select, Stack, Text, Title } from '@mantine/core';
import { useState } from 'react';
import { useConfig } from '../../api/session.js';
import { CodeSnippetTabs } from '../../components/secrets/code-snippet-tabs.js';
import { type Agent, useAgentAccounts, useProviders } from '../../resources/agents.js';

export function ConnectTab({ agent }: { readonly agent: Agent }) {
  const accounts = useAgentAccounts(agent.id);
  const providers = useProviders();
  const config = useConfig().data;
  const [chosen, setChosen] = useState<string | null>(null);
  const slug = chosen ?? accounts.data?.[0]?.providerSlug ?? 'openai';
  const assigned = accounts.data?.some(({ providerSlug }) => providerSlug === slug) ?? true;
  return (
    <Card maw={860}>
      <Stack gap="md">
        <div>
          <Title order={2}>Connect {agent.name}</Title>
          <Text size="sm" c="dimmed">
            The provider’s own SDK, with two values changed: the base URL is the gateway, the key is the gateway token.
          </Text>
        </div>
        <Select
          label="Provider"
          maw={280}
          allowDeselect={false}
          data={(providers.data ?? []).map((one) => ({ value: one.slug, label: one.displayName }))}
          value={slug}
          onChange={setChosen}
        />
        {!assigned && (
          <Alert color="yellow" variant="light">
            This provider is not assigned to the agent yet: its calls would be refused. Add it in the tab Providers.
          </Alert>
        )}
        {config !== undefined && config.proxyUrl === null && (
          <Alert color="yellow" variant="light">
            Whoever runs this gateway has not said where agents call (DATAPLANE_PUBLIC_URL): put the address in
            yourself.
          </Alert>
        )}
        <CodeSnippetTabs providerSlug={slug} token={null} agent={agent.slug} />
      </Stack>
    </Card>
  );
}

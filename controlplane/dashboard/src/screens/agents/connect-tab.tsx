/** How to call providers as this agent through the gateway. */
import { Alert, Card, Select, Stack, Text, Title } from '@mantine/core';
import { useState } from 'react';
import { useConfig } from '../../api/session.js';
import { CodeSnippetTabs } from '../../components/secrets/code-snippet-tabs.js';
import { type Agent, useAgentAccounts, useProviders } from '../../resources/agent-account-and-key-hooks.js';

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
            Use the provider’s own SDK with two changes: the gateway as base URL, and a gateway token as API key.
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
            This provider is not assigned to the agent, so its calls would be rejected. Add it in the Providers tab.
          </Alert>
        )}
        {config !== undefined && config.proxyUrl === null && (
          <Alert color="yellow" variant="light">
            The operator has not configured the address that agents call (DATAPLANE_PUBLIC_URL). Enter the address
            yourself.
          </Alert>
        )}
        <CodeSnippetTabs providerSlug={slug} token={null} agent={agent.slug} />
      </Stack>
    </Card>
  );
}

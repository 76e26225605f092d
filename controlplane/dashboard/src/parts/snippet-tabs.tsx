/** Snippets one beside the other, to copy with the token or, for screens that are shared, without. */
import { Code, Group, Tabs } from '@mantine/core';
import { useMemo } from 'react';
import { useConfig } from '../api/session.js';
import { CopyButton } from './copy-button.js';
import { GATEWAY_PLACE, snippetsFor, TOKEN_PLACE } from './snippets.js';

interface SnippetTabsProps {
  readonly providerSlug: string;
  /** Null: it is not shown any more. */
  readonly token: string | null;
  /** Slug or id of the agent, where it is known. */
  readonly agent?: string | undefined;
  readonly onCopied?: () => void;
}

export function SnippetTabs({ providerSlug, token, agent, onCopied }: SnippetTabsProps) {
  const config = useConfig().data;
  const [shown, without] = useMemo(() => {
    const gatewayUrl = config?.proxyUrl ?? GATEWAY_PLACE;
    const run = agent === undefined || config === undefined ? undefined : { agent, controlUrl: config.publicUrl };
    const source = { providerSlug, gatewayUrl, run };
    return [snippetsFor({ ...source, token: token ?? TOKEN_PLACE }), snippetsFor({ ...source, token: TOKEN_PLACE })];
  }, [agent, config, providerSlug, token]);
  const copied = onCopied === undefined ? {} : { onCopied };
  return (
    <Tabs defaultValue="curl" keepMounted={false}>
      <Tabs.List mb="sm" className="acg-tabs" aria-label="Languages">
        {shown.map(({ id, label }) => (
          <Tabs.Tab key={id} value={id}>
            {label}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {shown.map(({ id, label, code }, i) => (
        <Tabs.Panel key={id} value={id}>
          <Code block className="acg-code" tabIndex={0} aria-label={label}>
            {code}
          </Code>
          <Group gap="sm" mt="sm">
            <CopyButton value={code} {...copied} />
            {token !== null && code.includes(token) && (
              <CopyButton value={without[i]?.code ?? ''} label="Copy without token" />
            )}
          </Group>
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}
